// Encodes journal entries as short lists, for tokens. An answer begins with the number of its kind, any other entry with a negative number.
// Times are relative to the entry before, and defaults at the end are left out.
// No data may get lost: an entry that does not fit its list is encoded whole. Only the reason of a rejected answer and the prompts are
// dropped; the body has the prompts.
import type { AnswerEntry, JournalEntry, Header, StepEntry } from '../journal.ts';

export type CompactRow = unknown[];

/** The order is part of the format: only append. */
const KINDS = ['', 'text', 'choice', 'confirm', 'number', 'date', 'file', 'custom', 'choices', 'form'];
const SOURCES = ['human', 'ui', 'model', 'args', 'default'];
const VIAS = ['flow', 'elicit', 'mrtr', 'task', 'app', 'page', 'relay', 'args', 'terminal'];
const NOS = ['declined', 'cancelled', 'timeout', 'unavailable'];

const WHOLE = -1;
const INTENT = -2;
const STEP = -3;
const CUT = -4;
const EDIT = -5;
const VERSION = -6;
const REJECTED = -7;
const UNDO = -8;

export function toRows(
  entries: readonly JournalEntry[],
  { via, since }: { via: Header['via']; since: number },
): CompactRow[] {
  let last = since;
  return entries.map((entry) => {
    const elapsed = entry.ts - last;
    last = entry.ts;
    return trimmed(toRow(entry, elapsed, via) ?? [WHOLE, entry]);
  });
}

export function fromRows(
  rows: readonly CompactRow[],
  { via, since }: { via: Header['via']; since: number },
): JournalEntry[] {
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
  const [byVia, bySource] = [VIAS.indexOf(entry.via), SOURCES.indexOf(src)];
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
  const by = byVia === undefined ? via : (VIAS[byVia] as AnswerEntry['via']);
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
export function trimmed(row: CompactRow): CompactRow {
  let length = row.length;
  while (length > 0 && row[length - 1] === undefined) length--;
  return row.slice(0, length);
}

/** Encodes base64url text as its bytes. */
export function toBytes(text: string): Uint8Array | string {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : text;
}

export function fromBytes(value: unknown): string {
  return typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString('base64url');
}
