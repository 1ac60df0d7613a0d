// The configurations that this user has trusted, each with the digest of all that it was made of. Only the user can read or write the file.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../protocol/message.ts';
import { ownStateFolder } from '../../shared/secrets/own-folders.ts';
import { writePrivateFile } from '../../shared/files/private-file.ts';

export interface TrustedFile {
  digest: string;
  /** ISO 8601. */
  trusted: string;
  /** What was shown, and the digest of each file by path, to say what has changed. */
  shown?: string[];
  files?: Record<string, string>;
}

const NAME = 'trusted.json';
const OTHERS_WRITE = 0o022;

export function trustFile(folder: string = ownStateFolder()): string {
  return join(folder, NAME);
}

/** By path. Empty if the file does not exist, or if others could have written it: then nothing is trusted. */
export function readTrusted(folder?: string): Record<string, TrustedFile> {
  let file: number | undefined;
  try {
    file = openSync(trustFile(folder), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { mode, uid } = fstatSync(file);
    const isForeign = process.getuid !== undefined && (uid !== process.getuid() || (mode & OTHERS_WRITE) !== 0);
    const { files } = isForeign ? {} : (JSON.parse(readFileSync(file, 'utf8')) as { files?: unknown });
    const entries = Object.entries(isObject(files) ? files : {}).filter(
      (entry): entry is [string, TrustedFile & Record<string, unknown>] =>
        isObject(entry[1]) && typeof entry[1]['digest'] === 'string',
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function writeTrusted(files: Record<string, TrustedFile>, folder?: string): void {
  writePrivateFile(trustFile(folder), `${JSON.stringify({ files }, undefined, 2)}\n`);
}
