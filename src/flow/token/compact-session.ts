// Encodes a session as a short list, for tokens. It leaves out tool and principal, which the binding has, and the open questions, which a
// replay finds.
import { createHeader } from '../journal.ts';
import { estimateSize } from '../fold.ts';
import type { Header, StartEntry } from '../journal.ts';
import type { StoredSession } from '../store/store.ts';
import { fromBytes, fromRows, toBytes, toRows, trimmed } from './compact-entries.ts';
import type { CompactRow } from './compact-entries.ts';

/** The order is part of the format: only append. */
const STATES = ['waiting_user', 'processing', 'active', 'idle', 'completed', 'cancelled', 'error'];
const VIAS = ['mrtr', 'flow', 'relay', 'elicit', 'task', 'app', 'page', 'args', 'terminal'];

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

export interface CompactSession {
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
    STATES.indexOf(header.state) * VIAS.length + VIAS.indexOf(via),
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
    others(header, OF_HEADER),
    others(start, IN_START),
  ];
  return { head: trimmed(head), rows: toRows(rest, { via, since: start.ts }) };
}

export interface SessionIdentity {
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
  const via = VIAS[packed! % VIAS.length] as Header['via'];
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
    state: STATES[Math.floor(packed! / VIAS.length)] as Header['state'],
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
  if (more !== undefined) Object.assign(header, more);
  header.expiresAt = Math.min(at + header.timeoutMs, header.deadline);
  return { header, entries, at };
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
