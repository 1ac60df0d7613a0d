// A program that a command starts as the browser of this machine.
import { chmodSync } from 'node:fs';
import type { Home } from './parley.ts';

/** Follows redirects with cookies, as browsers do. */
const BROWSER = `#!/usr/bin/env node
const cookies = new Map();
let url = process.argv[2];
for (let hops = 0; url !== null && hops < 20; hops++) {
  const cookie = [...cookies].map(([name, value]) => name + '=' + value).join('; ');
  const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
    cookies.set(name, value);
  }
  const next = response.headers.get('location');
  url = next === null ? null : new URL(next, url).href;
}
`;

/** The environment in which it is the browser. */
export function browserOf(home: Home): Record<string, string> {
  const path = home.write('browser.mjs', BROWSER);
  chmodSync(path, 0o755);
  return { BROWSER: path };
}
