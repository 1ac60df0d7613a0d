// The heads of the chains in a folder: the last complete line of each. A new chain names them, so that an older one cannot disappear as a whole
// without a trace.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { listAuditFiles } from './audit-folder.ts';
import { hashLine, readLine } from './audit-lines.ts';

export interface ChainHead {
  chain: string;
  seq: number;
  hash: string;
}

/** More are not named. */
const MAX_HEADS = 16;
/** No line is longer. */
const TAIL_BYTES = 64 * 1024;

/** The newest chains. */
export function headsOf(folder: string): ChainHead[] {
  const newest = new Map(listAuditFiles(folder).map((file) => [file.chain, file.path]));
  return [...newest].slice(-MAX_HEADS).flatMap(([chain, path]) => {
    const line = lastLineIn(path);
    const read = line === undefined ? undefined : readLine(line);
    return read ? [{ chain, seq: read.seq, hash: hashLine(line!) }] : [];
  });
}

function lastLineIn(path: string): string | undefined {
  try {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      return tail.toString().split('\n').at(-2);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // removed meanwhile
  }
}
