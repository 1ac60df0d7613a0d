// Reads a file that somebody else may have named: a device or a pipe has no end, and may never answer.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Throws if it is not a regular file, or has more bytes. */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // opening a pipe would wait for its writer
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw problem('it is not a regular file');
    if (stat.size > maxBytes) throw problem('it is too large');
    return readUpTo(file, maxBytes, stat.size);
  } finally {
    closeSync(file);
  }
}

/** Of any kind, such as a pipe that the user names. Throws if it has more bytes. */
export function readBounded(path: string, maxBytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    return readUpTo(file, maxBytes, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

/** Some files say that they are empty, and are not: those in /proc. */
function readUpTo(file: number, maxBytes: number, expected: number): Buffer {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(Math.max(4096, Math.min(expected, maxBytes) - bytes + 1));
    const count = readSync(file, part);
    if (count === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, count));
    bytes += count;
    if (bytes > maxBytes) throw problem('it is too large');
  }
}

function problem(code: string): Error {
  return Object.assign(new Error(code), { code });
}
