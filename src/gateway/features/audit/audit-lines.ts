// The lines of the audit log: how they are written and read back. How they are chained by hashes is in chained-lines.ts. A checkpoint line also holds a
// signature of its hash.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { AuditEvent } from '../../../kernel/audit.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { printable } from '../../../kernel/base/visible.ts';
import { listAuditFiles } from './audit-folder.ts';
import type { AuditFile } from './audit-folder.ts';

/** A line as it is read back. */
export interface AuditLine extends Omit<AuditEvent, 'kind'> {
  /** The number of the line in its chain. */
  readonly seq: number;
  /** The hash of the lines before it, from the last one that has such a hash on; the last line of each write has one, and each line of older logs. */
  readonly prev?: string | undefined;
  /** ISO 8601. */
  readonly time: string;
  /** Besides events: `start` of a chain, `checkpoint`, `end`, and `lost` if lines could not be written. */
  readonly kind: AuditEvent['kind'] | 'start' | 'checkpoint' | 'end' | 'lost';
  /** Ed25519 over `checkpointText`, base64url; of checkpoints and ends. Of a start, over `startText`. */
  readonly sig?: string | undefined;
}

/** One text is longer than any honest name; of the rest, only its length is kept. */
const MAX_TEXT = 256;
/** Lines of calls are far shorter, unless a peer has made them long. */
const MAX_SIMPLE = 2048;

/**
 * What a line says, as JSON without its opening brace, because its number and its time are written before it. Safe to print. Long texts are
 * cut, and members that are undefined left out.
 */
export function toBody(rest: object): string {
  return toSafeJson(rest).slice(1);
}

export function toSafeJson(value: object): string {
  const simple = JSON.stringify(value); // a replacer would take several times as long
  return printable(simple.length <= MAX_SIMPLE ? simple : JSON.stringify(value, shorten));
}

function shorten(_: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_TEXT) return value;
  return `${value.slice(0, MAX_TEXT)}… (${value.length} characters)`;
}

/**
 * What the signature of a start is about: all that it says, such as its chain, and which files were removed to make room. So nobody without the key can say
 * that, and no chain is without a signature, however early its process was killed.
 */
export function startText(details: object): string {
  return `start ${JSON.stringify(details)}`;
}

/** What is signed: the chain, how long it is, the hash of its last line, when, and whether it ends there. */
export function checkpointText(chain: string, { kind, seq, prev, time }: Omit<AuditLine, 'sig'>): string {
  return ['parley audit', kind, chain, seq, prev, time].join('\n');
}

/** Undefined for what is not a line of an audit log, such as one that was not completely written. */
export function readLine(text: string): AuditLine | undefined {
  try {
    const line = JSON.parse(text) as Partial<AuditLine> & JsonObject;
    const isLine = Number.isSafeInteger(line.seq) && typeof line.time === 'string';
    const isChained = line.prev === undefined || typeof line.prev === 'string';
    return isLine && isChained && typeof line.kind === 'string' ? (line as unknown as AuditLine) : undefined;
  } catch {
    return undefined;
  }
}

const PIECE_BYTES = 256 * 1024;
/** Our lines are far shorter. A longer one was not written by us. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Files may be large and still growing, so they are read in pieces. Calls back for each complete line from `offset` on. Returns where the rest begins, and its length. */
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

interface ReadEntry {
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
