// Reads the files of an audit log, line by line and in pieces, since they may be large and still growing.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { AuditFile } from './audit-folder.ts';
import { listAuditFiles } from './audit-folder.ts';
import { readLine } from './audit-lines.ts';
import type { AuditLine } from './audit-lines.ts';

const PIECE_BYTES = 256 * 1024;
/** Our lines are far shorter. A longer one was not written by us. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Calls back for each complete line from `offset` on. Returns where the rest begins, and its length. */
export function readLines(
  path: string,
  offset: number,
  onLine: (text: string) => void,
): { offset: number; rest: number } {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if (!fstatSync(fd).isFile()) return { offset, rest: 0 };
    return readFrom(fd, offset, onLine);
  } finally {
    closeSync(fd);
  }
}

function readFrom(fd: number, begin: number, onLine: (text: string) => void): { offset: number; rest: number } {
  const piece = Buffer.alloc(PIECE_BYTES);
  let rest = Buffer.alloc(0);
  let offset = begin;
  for (;;) {
    const count = readSync(fd, piece, 0, piece.length, offset + rest.length);
    if (count === 0 || rest.length > MAX_LINE_BYTES) return { offset, rest: rest.length };
    const all = Buffer.concat([rest, piece.subarray(0, count)]);
    let from = 0;
    for (let end = all.indexOf(10); end !== -1; end = all.indexOf(10, from)) {
      onLine(all.toString('utf8', from, end));
      from = end + 1;
    }
    offset += from;
    rest = Buffer.from(all.subarray(from));
  }
}

export interface ReadEntry {
  file: AuditFile;
  line: AuditLine;
}

/** Follows all files of a folder. Each call of `read` returns the lines since the one before, by time. */
export class AuditTail {
  readonly #folder: string;
  readonly #offsets = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(wanted: (line: AuditLine) => boolean): ReadEntry[] {
    const found: ReadEntry[] = [];
    for (const file of listAuditFiles(this.#folder)) {
      try {
        const { offset } = readLines(file.path, this.#offsets.get(file.path) ?? 0, (text) => {
          const line = readLine(text);
          if (line && wanted(line)) found.push({ file, line });
        });
        this.#offsets.set(file.path, offset);
      } catch {
        // removed meanwhile, or a link: `parley audit verify` says so
      }
    }
    return found.toSorted((a, b) => a.line.time.localeCompare(b.line.time));
  }
}
