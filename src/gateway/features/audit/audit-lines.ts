// The lines of the audit log: how they are written, chained and read back. Each line holds the hash of the line before it, so a changed, removed
// or moved line breaks the chain. A checkpoint line also holds a signature of that hash.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { AuditEvent } from '../../../kernel/audit.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { printable } from '../../../kernel/base/visible.ts';
import { listAuditFiles } from './audit-folder.ts';
import type { AuditFile } from './audit-folder.ts';

/** The previous hash of the first line of a chain. */
export const FIRST = '';

/** A line as it is read back. */
export interface AuditLine extends Omit<AuditEvent, 'kind'> {
  /** The number of the line in its chain. */
  readonly seq: number;
  /** The hash of the line before it. */
  readonly prev: string;
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
 * What a line says, as JSON without its opening brace, because its place in the chain is written before it. Safe to print. Long texts are
 * cut, and members that are undefined left out.
 */
export function toBody(rest: object): string {
  return toSafeJson(rest).slice(1);
}

function toSafeJson(value: object): string {
  const simple = JSON.stringify(value); // a replacer would take several times as long
  return printable(simple.length <= MAX_SIMPLE ? simple : JSON.stringify(value, shorten));
}

function shorten(_: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_TEXT) return value;
  return `${value.slice(0, MAX_TEXT)}… (${value.length} characters)`;
}

/** What needs no escapes, as our own ids and outcomes. */
const PLAIN = /^[\w :.#+-]{1,64}$/;
const DETAILS: ReadonlySet<string> = new Set(['client', 'key', 'as', 'arguments']);

/**
 * Bodies of calls, most of which are like the one before in all but the id, the outcome, the time and the arguments: what they have in common is
 * kept as text, because writing all of it again takes four times as long. `toBody` would write the same.
 */
export class CallBodies {
  #last: AuditEvent | undefined;
  #lastDetails: JsonObject = {};
  /** Before the outcome, and from the details to the arguments. */
  #texts: readonly [string, string] = ['', ''];

  of(event: AuditEvent): string {
    const { details } = event;
    if (!isUsual(event) || !details || !isUsualDetails(details)) return toBody(event);
    if (!this.#isLikeLast(event, details)) this.#learn(event, details);
    const { exchange, outcome, ms } = event;
    const [before, after] = this.#texts;
    const given = details.arguments;
    const shown = given === undefined ? '' : `,"arguments":${JSON.stringify(given)}`;
    // Long ones are cut, and those with a form of their own may have none.
    if (shown.length > MAX_SIMPLE / 2 || shown.endsWith('undefined')) return toBody(event);
    return `"kind":"call","exchange":"${exchange}",${before}"outcome":"${outcome}","ms":${ms},"details":${after}${printable(shown)}}}`;
  }

  #isLikeLast({ principal, server, method, name }: AuditEvent, { client, key, as }: JsonObject): boolean {
    const last = this.#last;
    if (last?.name !== name || last?.principal !== principal) return false;
    if (last?.server !== server || last?.method !== method) return false;
    const details = this.#lastDetails;
    return details.client === client && details.key === key && details.as === as;
  }

  #learn({ principal, server, method, name }: AuditEvent, { client, key, as }: JsonObject): void {
    const about = toBody({ principal, server, method, name, end: 0 });
    this.#texts = [about.slice(0, about.lastIndexOf('"end"')), toSafeJson({ client, key, as }).slice(0, -1)];
    this.#last = { kind: 'call', principal, server, method, name };
    this.#lastDetails = { client, key, as };
  }
}

function isUsual({ exchange, outcome, ms, decision }: AuditEvent): boolean {
  if (exchange === undefined || outcome === undefined || decision !== undefined) return false;
  return PLAIN.test(exchange) && PLAIN.test(outcome) && Number.isFinite(ms);
}

function isUsualDetails(details: JsonObject): boolean {
  for (const name in details) if (!DETAILS.has(name)) return false;
  const { client, arguments: given } = details;
  return typeof client === 'string' && (given === undefined || isObject(given));
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
    const isLine = Number.isSafeInteger(line.seq) && typeof line.prev === 'string' && typeof line.time === 'string';
    return isLine && typeof line.kind === 'string' ? (line as unknown as AuditLine) : undefined;
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
