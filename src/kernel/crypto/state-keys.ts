// The keys that seal what outlives the process, in the user's state folder: created once and readable only by their
// owner.
import { chmodSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../files/private-file.ts';
import { GatewayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { randomId } from './ids.ts';

interface KeySource {
  /** Explicit keys take precedence. */
  keys?: readonly string[] | undefined;
  stateFolder?: string | undefined;
}

/** The first key seals. Undefined if nothing is stored: then keys end with the process. */
export function keysFrom({ keys, stateFolder }: KeySource, log: Log): readonly string[] | undefined {
  refuseShort(keys);
  if (keys !== undefined || stateFolder === undefined) return keys;
  const path = join(stateFolder, 'keys');
  try {
    return readKeys(path) ?? makeKeys(stateFolder, path);
  } catch (error) {
    log.warn({ error, path }, 'keys.not-kept');
    return undefined;
  }
}

/** Shorter keys can be guessed. */
export const MIN_KEY_LENGTH = 16;

/** Checks keys that a program passes. An empty one is refused where it is used. */
export function refuseShort(keys: readonly string[] = [], option = 'keys'): void {
  if (keys.every((key) => typeof key !== 'string' || key === '' || key.length >= MIN_KEY_LENGTH)) return;
  const reason = `each needs at least ${MIN_KEY_LENGTH} characters; \`openssl rand -base64 32\` makes one`;
  throw new GatewayError('BAD_OPTION', { option, reason });
}

/** One key per line, newest first. */
function readKeys(path: string): string[] | undefined {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  const lines = text.split('\n').map((line) => line.trim());
  const short = lines.findIndex((line) => line !== '' && line.length < MIN_KEY_LENGTH);
  if (short !== -1) {
    const why = `is too short: a key has at least ${MIN_KEY_LENGTH} characters`;
    throw new Error(`line ${short + 1} of ${path} ${why}. Remove the file to have a new key made`);
  }
  const keys = lines.filter((line) => line !== '');
  if (keys.length === 0) throw new Error(`${path} is empty; remove it to have a new key made`);
  return keys;
}

/** Written completely before it gets its name, so that two processes that start at once use the same key. */
function makeKeys(folder: string, path: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}-${randomId()}`;
  writeFileSync(temporary, `${randomId()}${randomId()}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readKeys(path)!;
}
