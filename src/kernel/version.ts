// The version of this package, read from its package.json.
import { readFileSync } from 'node:fs';

/** The folder of this package. */
export const PACKAGE_FOLDER: URL = new URL('../../', import.meta.url);

let known: string | undefined;

/** "0" if the package was bundled without that file. */
export function version(): string {
  return (known ??= read());
}

function read(): string {
  try {
    const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')) as {
      name?: unknown;
      version?: unknown;
    };
    return manifest.name === 'mcp-parley' ? String(manifest.version) : '0';
  } catch {
    return '0';
  }
}
