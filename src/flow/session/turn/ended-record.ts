// What is kept of an ended session in its header: its outcome and its trail.
// 1. The outcome is kept until its client has acknowledged it: a process may die, or a connection break, after the end is committed and
//    before the client knows. It includes fingerprints of the last answers, so that a repeated answer is recognized.
// 2. The trail is a bounded copy of the journal, for `parley flows show`. It never holds secrets, nor arguments that no question asked for.
//    Only durable stores keep trails.
// 3. Both are sealed only if there are keys, since another process could not open them otherwise. A trail that is not sealed holds only
//    what happened when, to which key and from which source.
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../kernel/message.ts';
import { canonicalJson } from '../../../kernel/base/canonical-json.ts';
import { earlyEndOf, isEnded } from '../../header.ts';
import { PREFILLED } from '../../journal.ts';
import type { AnswerEntry, JournalEntry, Header } from '../../journal.ts';
import { isFileRef } from '../../question/check-answer.ts';
import { toPromptId } from '../../question/question.ts';
import type { SessionContext } from '../context/session-context.ts';
import { toShortId } from '../../session-id.ts';
import type { RunningTurn } from './running-turn.ts';
import type { Failure, Turn, TurnDraft } from './turn.ts';
import { isStoredAnswer, isSecretRef } from '../values/secrets.ts';
import type { GivenAnswer } from '../context/requests.ts';

/** Adds outcome and trail to a draft that ends the session. `unwritten`: entries of the same commit. Undefined if there is nothing to wait for. */
export function recordEnd(runner: RunningTurn, draft: TurnDraft, unwritten: JournalEntry[]): Promise<void> | undefined {
  const { patch, add } = draft;
  const { context, header } = runner.input;
  keepOutcome(runner, draft, unwritten);
  if (!context.store.durable) return undefined;
  return buildTrail(context, header.id, [...unwritten, ...add]).then((trail) => void (patch.trail = trail));
}

export interface SessionOutcome {
  /** Present, perhaps as undefined, if it was completed. */
  result?: unknown;
  summary?: string | undefined;
  failure?: Failure | undefined;
}

/** An answer of the last round. References to secrets and files are kept as they are. */
type LastAnswer = Pick<AnswerEntry, 'k' | 'a' | 'no' | 'src' | 'ty' | 'who'> & { d?: string; v?: unknown };

interface Sealed extends SessionOutcome {
  isCompleted?: true;
  answers: LastAnswer[];
}

const PURPOSE = 'flow-result';

/** Adds the outcome to the draft that ends the session, so that the client can ask for it later. `unwritten`: entries of the same commit. */
function keepOutcome(
  { input, commits }: RunningTurn,
  { patch, turn, add }: TurnDraft,
  unwritten: JournalEntry[],
): void {
  const { via, started } = input.header;
  // A call gets its result directly. Only a caller that may come back, or waits in another process, can ask for it later.
  const isOwn = !input.byItself && !input.fromOutside && commits.header.left === undefined;
  if (via !== 'flow' && started === undefined && isOwn) return;
  const here = toLastAnswers([...commits.added, ...unwritten, ...add]);
  const last = here ?? toLastAnswers(input.entries) ?? [];
  patch.outcome = toKeptOutcome(input.context, input.header, turn, last);
}

/** The answers of the last round. */
function toLastAnswers(entries: JournalEntry[]): AnswerEntry[] | undefined {
  const answers = entries.filter((entry) => entry.t === 'ans' && entry.a > 0) as AnswerEntry[];
  const at = answers.at(-1)?.ts;
  return at === undefined ? undefined : answers.filter(({ ts }) => ts === at);
}

/** Undefined if it is too large to keep. */
function toKeptOutcome(
  context: SessionContext,
  { id }: Header,
  turn: SessionOutcome,
  answers: AnswerEntry[],
): string | undefined {
  const { result, summary, failure } = turn;
  if (!failure && !('result' in turn)) return undefined; // the state says it all
  const outcome: Sealed = {
    ...('result' in turn && { isCompleted: true, result }),
    ...(summary !== undefined && { summary }),
    ...(failure && { failure }),
    answers: answers.map(({ k, a, no, src, ty, who, v }) => ({
      k,
      a,
      no,
      src,
      ty,
      who,
      ...(isBeside(v) ? { v } : { d: digestOf(id, v) }),
    })),
  };
  const text = context.sealsResults ? context.sealer.seal(PURPOSE, id, outcome) : JSON.stringify(outcome);
  if (text.length <= context.limits.resultBytes) return text;
  context.log.warn({ session: toShortId(id), bytes: text.length }, 'flow.result-not-kept');
  return undefined;
}

function isBeside(value: unknown): boolean {
  return isSecretRef(value) || isFileRef(value);
}

function digestOf(id: string, value: unknown): string {
  return hash('sha256', `${id}\0${canonicalJson(value ?? null)}`, 'base64url').slice(0, 22);
}

/** For a session that is being ended, the failure: its client need not wait for the undos. */
export function readOutcome(context: SessionContext, header: Header): SessionOutcome | undefined {
  const sealed = open(context, header);
  const failure = earlyEndOf(header)?.failure;
  if (!sealed) return failure && { failure };
  const { isCompleted, result, summary } = sealed;
  return {
    ...(isCompleted && { result }),
    ...(summary !== undefined && { summary }),
    ...(sealed.failure && { failure: sealed.failure }),
  };
}

function open({ sealer }: SessionContext, { id, outcome }: Header): Sealed | undefined {
  if (outcome === undefined) return undefined;
  const opened = outcome.startsWith('{') ? (JSON.parse(outcome) as unknown) : sealer.open(PURPOSE, id, outcome);
  return isObject(opened) ? (opened as unknown as Sealed) : undefined;
}

export function withOutcome(context: SessionContext, header: Header): Partial<Turn> {
  return isEnded(header) ? (readOutcome(context, header) ?? {}) : {};
}

/** The promptIds, if the same person already gave all these answers in the last round of an ended session. */
export async function findRepeatedAnswers(
  context: SessionContext,
  header: Header,
  given: GivenAnswer[],
  isTheirs: (last: Pick<AnswerEntry, 'who'>) => boolean,
): Promise<string[] | undefined> {
  const answers = open(context, header)?.answers ?? [];
  const ids: string[] = [];
  for (const { promptId, value, no } of given) {
    const last = answers.find(({ k, a }) => toPromptId(k, a) === promptId);
    if (!last || !isTheirs(last) || !(await isSame(context, header.id, last, { value, no }))) return undefined;
    ids.push(promptId!);
  }
  return ids.length > 0 ? ids : undefined;
}

async function isSame(
  context: SessionContext,
  id: string,
  last: LastAnswer,
  { value, no }: GivenAnswer,
): Promise<boolean> {
  if (last.no !== no) return false;
  if (last.src === 'default' && (value === undefined || value === null || value === '')) return true;
  if (last.d !== undefined) return isDeepStrictEqual(last.d, digestOf(id, value));
  return isStoredAnswer(context, id, last as AnswerEntry, value).catch(() => false);
}

export interface Trail {
  /** How many earlier entries were left out. */
  cut: number;
  /** Without answers, results and prompts. */
  isBare: boolean;
  entries: JournalEntry[];
}

const TRAIL_PURPOSE = 'flow-trail';
const MAX_ENTRIES = 200;
const MAX_CHARS = 16_384;
/** Characters of an answer or result in JSON. */
const MAX_VALUE = 300;
export const NOT_KEPT = '(too long to be kept)';

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
  return isBare ? JSON.stringify(trail) : context.sealer.seal(TRAIL_PURPOSE, id, trail);
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

export async function withTrail(context: SessionContext, header: Header): Promise<Header> {
  return isEnded(header) ? { ...header, trail: await buildTrail(context, header.id) } : header;
}

/** Undefined if there is no trail, `sealed` if the keys are missing. */
export function readTrail(
  { sealer }: Pick<SessionContext, 'sealer'>,
  { id, trail }: Header,
): Trail | 'sealed' | undefined {
  if (trail === undefined) return undefined;
  if (trail.startsWith('{')) return JSON.parse(trail) as Trail;
  const opened = sealer.open(TRAIL_PURPOSE, id, trail);
  return isObject(opened) ? (opened as unknown as Trail) : 'sealed';
}
