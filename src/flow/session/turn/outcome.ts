// The outcome of a session, kept in its header until its client has acknowledged it: a process may die, or a connection break, after the end
// is committed and before the client knows. It is sealed only if there are keys, since another process could not open it otherwise.
// It includes fingerprints of the last answers, so that a repeated answer is recognized.
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { isFileRef } from '../../question/check-answer.ts';
import { toPromptId } from '../../question/question.ts';
import { isObject } from '../../../protocol/message.ts';
import { earlyEndOf, isEnded } from '../../header.ts';
import type { AnswerEntry, JournalEntry, Header } from '../../journal.ts';
import type { TurnRunner } from './turn-runner.ts';
import type { TurnDraft } from './turn-changes.ts';
import type { GivenAnswer } from '../verbs/requests.ts';
import { isStoredAnswer, isSecretRef } from '../values/secrets.ts';
import type { SessionContext } from '../session-context.ts';
import { toShortId } from '../session-id.ts';
import type { Failure, Turn } from './turn.ts';

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

/** The answers of the last round. */
function toLastAnswers(entries: JournalEntry[]): AnswerEntry[] | undefined {
  const answers = entries.filter((entry) => entry.t === 'ans' && entry.a > 0) as AnswerEntry[];
  const at = answers.at(-1)?.ts;
  return at === undefined ? undefined : answers.filter(({ ts }) => ts === at);
}

/** Adds the outcome to the draft that ends the session, so that the client can ask for it later. `unwritten`: entries of the same commit. */
export function keepOutcome(
  { input, commits }: TurnRunner,
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

export function withOutcome(context: SessionContext, header: Header): Partial<Turn> {
  return isEnded(header) ? (readOutcome(context, header) ?? {}) : {};
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

function open({ sealer }: SessionContext, { id, outcome }: Header): Sealed | undefined {
  if (outcome === undefined) return undefined;
  const opened = outcome.startsWith('{') ? (JSON.parse(outcome) as unknown) : sealer.open(PURPOSE, id, outcome);
  return isObject(opened) ? (opened as unknown as Sealed) : undefined;
}

function isBeside(value: unknown): boolean {
  return isSecretRef(value) || isFileRef(value);
}

function digestOf(id: string, value: unknown): string {
  return hash('sha256', `${id}\0${canonicalJson(value ?? null)}`, 'base64url').slice(0, 22);
}
