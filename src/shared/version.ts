// The version of this package, from its own package.json: the one place where it is written down.
import { readFileSync } from 'node:fs';

let known: string | undefined;

/** "0" where the package was put into a bundle of somebody else's, without that file. */
export function version(): string {
  return (known ??= read());
}

function read(): string {
  try {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      name?: unknown;
      version?: unknown;
    };
    return manifest.name === 'mcp-parley' ? String(manifest.version) : '0';
  } catch {
    return '0';
  }
}
