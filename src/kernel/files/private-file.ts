// Files of this user alone. One is written completely before it gets its name, so that no reader sees half of it.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { randomId } from '../crypto/ids.ts';

export function writePrivateFile(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomId()}`;
  try {
    const file = openSync(fresh, 'wx', 0o600);
    try {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

const OTHERS_WRITE = 0o022;

/** What this process believes: keys, pairings, pins. Undefined if there is no such file. Throws if another user than root could have written it. */
export function readIfThere(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { mode, uid } = fstatSync(file);
    const own = process.getuid?.();
    const isForeign = own !== undefined && ((uid !== own && uid !== 0) || (mode & OTHERS_WRITE) !== 0);
    if (isForeign)
      throw new Error(`${path} can be written by others, and is not used: look at it, then own it (chmod 600)`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

const OTHERS = 0o077;

/** Throws if it is a link, or if another user could have read or written it. */
export function readOwnFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const { mode, uid } = fstatSync(file);
    const isForeign = process.getuid !== undefined && (uid !== process.getuid() || (mode & OTHERS) !== 0);
    if (isForeign) throw new Error(`${path} can be read or written by others`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
