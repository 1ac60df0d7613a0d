// The token of this user's gateways: one random secret in the state folder, which nobody else can read. It stays the same over restarts,
// because clients have it in their files.
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEY_PREFIX } from '../../mcp/listen/auth/api-keys.ts';
import { drawRandomBytes, randomId } from '../../kernel/crypto/ids.ts';
import { readOwnFile } from '../../kernel/files/private-file.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';

const NAME = 'token';
const BYTES = 32;
const FORM = /^parley_[\w-]{43}$/;

/** Creates it if it does not exist. Where nothing can be stored, it is valid for this process only. */
export function ownToken(folder: string = ownStateFolder()): string {
  const path = join(folder, NAME);
  const kept = readToken(folder);
  if (kept !== undefined) return kept;
  const made = KEY_PREFIX + drawRandomBytes(BYTES).toString('base64url');
  const fresh = `${path}.${randomId()}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(path, { force: true }); // the existing file cannot be used
    writeFileSync(fresh, `${made}\n`, { mode: 0o600, flag: 'wx' });
    linkSync(fresh, path); // fails if another gateway was first
  } catch {
    return readToken(folder) ?? made;
  } finally {
    rmSync(fresh, { force: true });
  }
  return made;
}

/** Undefined if it does not exist, or if others could have read or written it. */
export function readToken(folder: string = ownStateFolder()): string | undefined {
  try {
    const text = readOwnFile(join(folder, NAME)).trim();
    return FORM.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
