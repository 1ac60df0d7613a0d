// The version of this package, from its own package.json: the one place where it is written down.
import { readFileSync } from 'node:fs';

export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
