// Encodes a session as short lists, for tokens. It leaves out tool and principal, which the binding has, and the open questions, which a
// replay finds. Times are relative to the one before, and defaults at the end are left out.
// No data may get lost: what does not fit a list is encoded whole. Only the reason of a rejected answer and the prompts are dropped; the
// body has the prompts.
import { estimateSize } from '../fold.ts';
import { createHeader } from '../journal.ts';
import type { AnswerEntry, JournalEntry, Header, StepEntry, StartEntry } from '../journal.ts';
import type { Question } from '../question/question.ts';
import type { StoredSession } from '../store/store.ts';

export type CompactRow = unknown[];

/** The order is part of the format: only append. */
const STATES = ['waiting_user', 'processing', 'active', 'idle', 'completed', 'cancelled', 'error'];
const HEADER_VIAS = ['mrtr', 'flow', 'relay', 'elicit', 'task', 'app', 'page', 'args', 'terminal'];

const TIMEOUT_MS = 300_000;
const DURATION_MS = 3_600_000;
const TIME_BYTES = 6;

/** Members that are left out: known from elsewhere, computed again, or useless in another process. */
const LEFT_OUT = [
  'id',
  'tool',
  'principal',
  'current',
  'createdAt',
  'lastActivityAt',
  'expiresAt',
  'size',
  'burst',
  'warned',
];
const IN_START = new Set(['t', 'input', 'context', 'client', 'seed', 'ts']);
const IN_PLACE = ['version', 'state', 'rev', 'timeoutMs', 'deadline', 'rounds', 'prompts', 'attempts', 'via', 'locale'];
const OF_HEADER = new Set([...LEFT_OUT, ...IN_PLACE]);

interface CompactSession {
  /** Everything but the entries after the first. */
  head: CompactRow;
  rows: CompactRow[];
}

export function toCompactSession({ header, entries }: StoredSession, at: number): CompactSession {
  const [start, ...rest] = entries;
  if (start?.t !== 'start') throw new TypeError('a journal begins with its start');
  const { createdAt, via } = header;
  const numbers = [header.rev, header.rounds, header.prompts, header.attempts];
  const last = entries.at(-1)!.ts;
  const head = [
    timeOf(createdAt),
    at - last,
    STATES.indexOf(header.state) * HEADER_VIAS.length + HEADER_VIAS.indexOf(via),
    ...numbers,
    header.version,
    toBytes(start.seed),
    start.input,
    usually(start.ts, createdAt),
    usually(header.timeoutMs, TIMEOUT_MS),
    usually(header.deadline - createdAt, DURATION_MS),
    header.locale,
    start.context,
    start.client,
    othersOfHeader(header, at),
    others(start, IN_START),
  ];
  return { head: trimmed(head), rows: toRows(rest, { via, since: start.ts }) };
}

interface SessionIdentity {
  id: string;
  tool: string;
  principal: string;
}

/** The session, and when its token was created. */
export function fromCompactSession(
  { head, rows }: CompactSession,
  known: SessionIdentity,
): StoredSession & { at: number } {
  const [time, since, packed, rev, rounds, prompts, attempts, version] = head as [Uint8Array, ...number[]];
  const [seed, input, startedAt, timeoutMs, duration, locale, context, client, more, moreOfStart] = head.slice(8);
  const createdAt = Buffer.from(time).readUIntBE(0, TIME_BYTES);
  const via = HEADER_VIAS[packed! % HEADER_VIAS.length] as Header['via'];
  const ts = (startedAt as number | undefined) ?? createdAt;
  const start: StartEntry = { t: 'start', input, seed: fromBytes(seed), ts };
  if (moreOfStart !== undefined) Object.assign(start, moreOfStart);
  if (context !== undefined) start.context = context;
  if (client !== undefined) start.client = client as NonNullable<StartEntry['client']>;
  const entries = [start, ...fromRows(rows, { via, since: ts })];
  const at = entries.at(-1)!.ts + since!;
  const header = createHeader({
    id: known.id,
    tool: known.tool,
    version: version as unknown as string,
    principal: known.principal,
    state: STATES[Math.floor(packed! / HEADER_VIAS.length)] as Header['state'],
    rev: rev!,
    createdAt,
    lastActivityAt: at,
    expiresAt: 0,
    timeoutMs: (timeoutMs as number | undefined) ?? TIMEOUT_MS,
    deadline: createdAt + ((duration as number | undefined) ?? DURATION_MS),
    rounds: rounds!,
    prompts: prompts!,
    attempts: attempts!,
    via,
    locale: locale as string | undefined,
    size: estimateSize(entries),
  });
  header.expiresAt = Math.min(at + header.timeoutMs, header.deadline);
  if (more !== undefined) Object.assign(header, more);
  return { header, entries, at };
}

/** With the end of a session that a question extends, which cannot be computed again. */
function othersOfHeader(header: Header, at: number): object | undefined {
  const rest = others(header, OF_HEADER);
  const isExtended = (header.current as Question[]).some(({ until = 0 }) => until > at + header.timeoutMs);
  return isExtended ? { ...rest, expiresAt: header.expiresAt } : rest;
}

/** Members that this file does not know, so that new ones are not lost. */
function others(from: object, known: ReadonlySet<string>): object | undefined {
  let rest: Record<string, unknown> | undefined;
  for (const name in from) {
    const value = (from as Record<string, unknown>)[name];
    if (value !== undefined && !known.has(name)) (rest ??= {})[name] = value;
  }
  return rest;
}

/** Six bytes; CBOR would need nine. */
function timeOf(ms: number): Uint8Array {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeUIntBE(ms, 0, TIME_BYTES);
  return bytes;
}

function usually(value: number, usual: number): number | undefined {
  return value === usual ? undefined : value;
}

/** Entries begin with a number: an answer with that of its kind, any other with a negative one. The orders are part of the format, too. */
const KINDS = ['', 'text', 'choice', 'confirm', 'number', 'date', 'file', 'custom', 'choices', 'form'];
const SOURCES = ['human', 'ui', 'model', 'args', 'default'];
const ENTRY_VIAS = ['flow', 'elicit', 'mrtr', 'task', 'app', 'page', 'relay', 'args', 'terminal'];
const NOS = ['declined', 'cancelled', 'timeout', 'unavailable'];

const WHOLE = -1;
const INTENT = -2;
const STEP = -3;
const CUT = -4;
const EDIT = -5;
const VERSION = -6;
const REJECTED = -7;
const UNDO = -8;

function toRows(entries: readonly JournalEntry[], { via, since }: { via: Header['via']; since: number }): CompactRow[] {
  let last = since;
  return entries.map((entry) => {
    const elapsed = entry.ts - last;
    last = entry.ts;
    return trimmed(toRow(entry, elapsed, via) ?? [WHOLE, entry]);
  });
}

function fromRows(rows: readonly CompactRow[], { via, since }: { via: Header['via']; since: number }): JournalEntry[] {
  let last = since;
  return rows.map((row) => {
    const entry = fromRow(row, last, via);
    last = entry.ts;
    return entry;
  });
}

function toRow(entry: JournalEntry, elapsed: number, via: Header['via']): CompactRow | undefined {
  switch (entry.t) {
    case 'ans':
      return answerRow(entry, elapsed, via);
    case 'int':
      return fits(entry, 4 + present(entry.undo))
        ? [INTENT, entry.k, elapsed, toBytes(entry.idem), entry.undo]
        : undefined;
    case 'step': {
      const { k, v, e, att } = entry;
      return fits(entry, 4 + present(v, e)) ? [STEP, k, v, elapsed, att === 1 ? undefined : att, e] : undefined;
    }
    case 'cut':
      return fits(entry, 3) ? [CUT, entry.k, elapsed] : undefined;
    case 'undo':
      return fits(entry, 3) ? [UNDO, entry.k, elapsed] : undefined;
    case 'edit':
      return fits(entry, 5) ? [EDIT, entry.k, entry.v, elapsed, usual(SOURCES, entry.src)] : undefined;
    case 'ver':
      return fits(entry, 4) ? [VERSION, entry.id, elapsed, entry.on || undefined] : undefined;
    case 'rej':
      return fits(entry, 5) ? [REJECTED, entry.k, elapsed, entry.a] : undefined;
    default:
      return undefined;
  }
}

function answerRow(entry: AnswerEntry, elapsed: number, via: Header['via']): CompactRow | undefined {
  const { k, v, a, ty, no, src, f, p, q, at, meta } = entry;
  const kind = KINDS.indexOf(ty);
  const [byVia, bySource] = [ENTRY_VIAS.indexOf(entry.via), SOURCES.indexOf(src)];
  if (kind < 0 || byVia < 0 || bySource < 0 || !fits(entry, 7 + present(v, no, f, p, q, at, meta))) return undefined;
  const refusal = no === undefined ? undefined : NOS.indexOf(no);
  if (refusal === -1) return undefined;
  const row: CompactRow = p === undefined ? [kind, k, v, elapsed] : [kind, k, v, elapsed, Buffer.from(p, 'base64url')];
  row.push(a === 1 ? undefined : a, bySource || undefined, entry.via === via ? undefined : byVia, refusal, f);
  row.push(at === undefined ? undefined : at - entry.ts, meta);
  return row;
}

function fromRow(row: CompactRow, last: number, via: Header['via']): JournalEntry {
  const [type, k] = row as [number, string];
  switch (type) {
    case WHOLE:
      return row[1] as JournalEntry;
    case INTENT:
      return {
        t: 'int',
        k,
        idem: fromBytes(row[3]),
        ts: last + (row[2] as number),
        ...(row[4] === true && { undo: true }),
      };
    case STEP: {
      const [, , v, elapsed, att = 1, e] = row as [
        number,
        string,
        unknown,
        number,
        number?,
        { name: string; message: string }?,
      ];
      const step: StepEntry = { t: 'step', k, att, ts: last + elapsed };
      if (v !== undefined) step.v = v;
      if (e !== undefined) step.e = e;
      return step;
    }
    case CUT:
      return { t: 'cut', k, ts: last + (row[2] as number) };
    case UNDO:
      return { t: 'undo', k, ts: last + (row[2] as number) };
    case EDIT: {
      const src = SOURCES[(row[4] ?? 0) as number] as AnswerEntry['src'];
      return { t: 'edit', k, v: row[2], src, ts: last + (row[3] as number) };
    }
    case VERSION:
      return { t: 'ver', id: k, on: row[3] === true, ts: last + (row[2] as number) };
    case REJECTED:
      return { t: 'rej', k, a: row[3] as number, why: '', ts: last + (row[2] as number) };
    default:
      return fromAnswerRow(row, last, via);
  }
}

type AnswerRow = [number, string, unknown, number, number?, number?, number?, number?, string?, number?, unknown?];

function fromAnswerRow(row: CompactRow, last: number, via: Header['via']): AnswerEntry {
  // Tokens of older versions have a number or nothing in place of the pin.
  const pin = row[4] instanceof Uint8Array ? Buffer.from(row[4]).toString('base64url') : undefined;
  const plain = pin === undefined ? row : row.toSpliced(4, 1);
  const [kind, k, v, elapsed, a = 1, source = 0, byVia, refusal, f, since, meta] = plain as AnswerRow;
  const ts = last + elapsed;
  const src = SOURCES[source] as AnswerEntry['src'];
  const by = byVia === undefined ? via : (ENTRY_VIAS[byVia] as AnswerEntry['via']);
  const entry: AnswerEntry = { t: 'ans', k, a, ty: KINDS[kind]!, src, via: by, ts };
  if (v !== undefined) entry.v = v;
  if (refusal !== undefined) entry.no = NOS[refusal] as AnswerEntry['no'];
  if (f !== undefined) entry.f = f;
  if (pin !== undefined) entry.p = pin;
  if (since !== undefined) entry.at = ts + since;
  if (meta !== undefined) entry.meta = meta as AnswerEntry['meta'];
  return entry;
}

/** The entry has no members beyond those of its list. */
function fits(entry: JournalEntry, keys: number): boolean {
  let count = 0;
  for (const name in entry) if (entry[name as keyof JournalEntry] !== undefined) count++;
  return count === keys;
}

function present(...values: unknown[]): number {
  let count = 0;
  for (const value of values) if (value !== undefined) count++;
  return count;
}

/** The first of the list is the default and is left out. */
function usual(list: string[], value: string): number | undefined {
  return list.indexOf(value) || undefined;
}

/** Removes trailing undefined values. */
function trimmed(row: CompactRow): CompactRow {
  let length = row.length;
  while (length > 0 && row[length - 1] === undefined) length--;
  return row.slice(0, length);
}

/** Encodes base64url text as its bytes. */
function toBytes(text: string): Uint8Array | string {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : text;
}

function fromBytes(value: unknown): string {
  return typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString('base64url');
}
