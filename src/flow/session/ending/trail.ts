// The trail of an ended session: a bounded copy of its journal in its header, for `parley flows show`. If results are sealed, the trail is
// sealed too and holds prompts and answers. Otherwise it holds only what happened when, to which key and from which source. It never holds
// secrets, nor arguments that no question asked for. Only durable stores keep trails.
import { PREFILLED } from '../../journal.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { isObject } from '../../../protocol/message.ts';
import { isEnded } from '../../header.ts';
import type { TurnRunner } from '../turn/turn-runner.ts';
import { keepOutcome } from '../turn/outcome.ts';
import type { TurnDraft } from '../turn/turn-changes.ts';
import { isSecretRef } from '../values/secrets.ts';
import type { SessionContext } from '../session-context.ts';

export interface Trail {
  /** How many earlier entries were left out. */
  cut: number;
  /** Without answers, results and prompts. */
  isBare: boolean;
  entries: JournalEntry[];
}

const PURPOSE = 'flow-trail';
const MAX_ENTRIES = 200;
const MAX_CHARS = 16_384;
/** Characters of an answer or result in JSON. */
const MAX_VALUE = 300;
export const NOT_KEPT = '(too long to be kept)';

/** Adds outcome and trail to a draft that ends the session. `unwritten`: entries of the same commit. Undefined if there is nothing to wait for. */
export function recordEnd(runner: TurnRunner, draft: TurnDraft, unwritten: JournalEntry[]): Promise<void> | undefined {
  const { patch, add } = draft;
  const { context, header } = runner.input;
  keepOutcome(runner, draft, unwritten);
  if (!context.store.durable) return undefined;
  return buildTrail(context, header.id, [...unwritten, ...add]).then((trail) => void (patch.trail = trail));
}

export async function withTrail(context: SessionContext, header: Header): Promise<Header> {
  return isEnded(header) ? { ...header, trail: await buildTrail(context, header.id) } : header;
}

/** Builds the trail of a session that is about to end; `more` is not in the store yet. */
export async function buildTrail(
  context: SessionContext,
  id: string,
  more: JournalEntry[] = [],
): Promise<string | undefined> {
  if (!context.store.durable) return undefined;
  const isBare = !context.sealsResults;
  const stored = await context.store.load(id);
  const all = [...(stored?.entries ?? []), ...more].map(isBare ? toBare : toShown);
  const entries: JournalEntry[] = [];
  let chars = 0;
  for (const entry of all.toReversed()) {
    chars += JSON.stringify(entry).length;
    if (entries.length >= MAX_ENTRIES || chars > MAX_CHARS) break;
    entries.unshift(entry);
  }
  const trail: Trail = { cut: all.length - entries.length, isBare, entries };
  return isBare ? JSON.stringify(trail) : context.sealer.seal(PURPOSE, id, trail);
}

/** Undefined if there is no trail, `sealed` if the keys are missing. */
export function readTrail(
  { sealer }: Pick<SessionContext, 'sealer'>,
  { id, trail }: Header,
): Trail | 'sealed' | undefined {
  if (trail === undefined) return undefined;
  if (trail.startsWith('{')) return JSON.parse(trail) as Trail;
  const opened = sealer.open(PURPOSE, id, trail);
  return isObject(opened) ? (opened as unknown as Trail) : 'sealed';
}

function toBare(entry: JournalEntry): JournalEntry {
  const { t, ts } = entry;
  switch (entry.t) {
    case 'ans': {
      const { k, a, ty, no, src, via, who } = entry;
      return { t: 'ans', k, a, ty, no, src, via, who, ts };
    }
    case 'step': {
      const { k, att, e } = entry;
      return { t: 'step', k, att, e: e && { name: e.name, message: '' }, ts };
    }
    case 'evt':
      return { t: 'evt', k: entry.k, no: entry.no, ts };
    case 'edit':
      return { t: 'edit', k: entry.k, v: undefined, src: entry.src, ts };
    case 'rej':
      return { t: 'rej', k: entry.k, a: entry.a, why: '', ts };
    case 'start':
      return { t: 'start', input: {}, seed: '', ts };
    case 'int':
    case 'undo':
    case 'cut':
    case 'ver':
    case 'hand':
    case 'end':
      return entry;
    default:
      return { t, ts } as unknown as JournalEntry; // an entry of a newer Parley
  }
}

function toShown(entry: JournalEntry): JournalEntry {
  if (entry.t === 'start') {
    const { input, ts, client } = entry;
    const { $held: _, ...clear } = isObject(input) && !entry.held ? input : {};
    return { t: 'start', input: short(clear), client, seed: '', ts };
  }
  if (entry.t === 'ans') {
    const { q, meta, p: _p, f: _f, v, ...rest } = entry;
    const operator = meta?.['operator'];
    return {
      ...rest,
      ...(entry.ty !== PREFILLED && { v: isSecretRef(v) ? { $secret: '' } : short(v) }),
      ...(q && { q: { type: q.type, message: q.message.slice(0, MAX_VALUE) } }),
      ...(typeof operator === 'string' && { meta: { operator } }),
    };
  }
  if (entry.t === 'step' && entry.e) {
    const { name, message } = entry.e;
    return { ...entry, e: { name, message: message.slice(0, MAX_VALUE) } };
  }
  return 'v' in entry ? { ...entry, v: short(entry.v) } : entry;
}

function short(value: unknown): unknown {
  return value !== undefined && JSON.stringify(value).length > MAX_VALUE ? NOT_KEPT : value;
}
