// Reads and writes files of other programs. A file is replaced as a whole, by a neighbour that has been written completely; it keeps its mode, its owner
// and, if it is a link, its place. It is replaced only while it has the bytes that were shown to the user.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { MAX_CONFIG_FILE_BYTES } from '../../../kernel/base/limits.ts';
import { realPath } from '../../../kernel/files/paths.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { readRegularFile } from '../../../config/read/read-regular-file.ts';

/** The file has changed since it was read. */
export class FileChanged extends Error {}

/** Undefined if there is no file. */
export function readBytes(path: string): Buffer | undefined {
  try {
    return readRegularFile(path, MAX_CONFIG_FILE_BYTES);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Undefined stands for a file that is not there. */
export function digestOf(bytes: Buffer | undefined): string | null {
  return bytes === undefined ? null : sha256(bytes, 'hex');
}

interface Replacement {
  /** Undefined: the file is removed. */
  bytes: Buffer | undefined;
  /** The digest that it must have now. */
  expected: string | null;
  /** Of a file that is new. */
  mode?: number;
}

export function replaceFile(path: string, { bytes, expected, mode = 0o600 }: Replacement): void {
  const target = realPath(path);
  const temporary = temporaryOf(target);
  const requireSame = (): void => {
    if (digestOf(readBytes(path)) !== expected) throw new FileChanged(`${path} has changed in the meantime`);
  };
  requireSame();
  if (bytes === undefined) return rmSync(target, { force: true });
  const stat = statSync(target, { throwIfNoEntry: false });
  requireWritable(target, stat);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  rmSync(temporary, { force: true }); // of a process that was killed
  try {
    writeWhole(temporary, bytes, stat?.mode ?? mode);
    keepOwner(temporary, stat);
    requireSame();
    renameSync(temporary, target);
    syncFolder(dirname(target));
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw thrown;
  }
}

/** What a process left that was killed while it wrote. */
export function removeLeftover(path: string): void {
  rmSync(temporaryOf(realPath(path)), { force: true });
}

/** One name for each file, so that a later run finds it. Runs wait for each other. */
function temporaryOf(target: string): string {
  return `${target}.parley-new`;
}

/** Renaming would replace a file that must not be written. */
function requireWritable(target: string, stat: Stats | undefined): void {
  if (stat === undefined) return;
  if ((stat.mode & 0o200) === 0) throw new Error('it is read-only');
  if (lstatSync(target).isSymbolicLink()) throw new Error('it is a link that leads nowhere');
}

function writeWhole(path: string, bytes: Buffer, mode: number): void {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);
  const file = openSync(path, flags, 0o600);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(path, mode & 0o7777);
}

function keepOwner(path: string, stat: Stats | undefined): void {
  if (stat === undefined || process.getuid === undefined) return;
  const own = statSync(path);
  if (own.uid !== stat.uid || own.gid !== stat.gid) chownSync(path, stat.uid, stat.gid);
}

function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    fsyncSync(file);
    closeSync(file);
  } catch {
    // Windows cannot open folders
  }
}
