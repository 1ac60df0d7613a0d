// Waits for the outcome of a request in the store: taken by a server, refused, or still waiting.
import type { JournalEntry, Header } from '../../../flow/journal.ts';
import { earlyEndOf } from '../../../flow/header.ts';
import { conditionOf, parkedReason } from '../../../flow/operator/condition.ts';
import { heldUntil, findListed } from '../../../flow/operator/leave-request.ts';
import type { OperatorContext } from '../../../flow/operator/leave-request.ts';
import { toPromptId } from '../../../flow/question/question.ts';
import type { Question } from '../../../flow/question/question.ts';
import { isEnded } from '../../../flow/header.ts';
import type { StoredSession } from '../../../flow/store/store.ts';
import { programName } from '../../program.ts';
import type { HandedRequest } from './act-on-session.ts';
import type { FlowsContext } from './list-sessions.ts';
import { formatText } from './format.ts';

const LOOK_MS = 200;
/** Default time to wait for a server, and then for the steps that it runs. */
const TAKE_MS = 15_000;
const AT_WORK_MS = 3000;

type Outcome = { status: number; words: string };

export async function awaitOutcome(
  outside: OperatorContext,
  asked: HandedRequest & { id: string },
  { command, print, clock, isDone }: FlowsContext & { isDone: boolean },
): Promise<number> {
  let until = clock.now() + (isDone ? 0 : (command.waitMs ?? TAKE_MS));
  for (let isTaken = false; ;) {
    const stored = await outside.store.load(asked.id);
    const outcome = stored && toOutcome(stored, asked, command.action);
    const isOver = clock.now() >= until;
    if (outcome && (isOver || !isAtWork(stored.header)))
      return printOutcome(outcome, stored.header, { command, print });
    if (isOver) break;
    // A server has taken it; its next question may follow soon.
    if (outcome && !isTaken) until = Math.min(until, clock.now() + (command.waitMs ?? AT_WORK_MS));
    isTaken ||= outcome !== undefined;
    await new Promise<void>((resolve) => void setTimeout(resolve, LOOK_MS));
  }
  print.problem(await whyNot(outside, asked.id));
  return 1;
}

function printOutcome(
  { status, words }: Outcome,
  header: Header,
  { command, print }: Pick<FlowsContext, 'command' | 'print'>,
): number {
  const questions = (header.current as Question[]).map(({ key, prompt }) => ({ key, message: prompt.message }));
  if (command.json) {
    const state = conditionOf(header);
    print.line(JSON.stringify({ id: header.id, done: status === 0, state, message: words, questions }, undefined, 2));
  } else if (status === 0) print.line(words);
  else print.problem(words);
  return status;
}

function isAtWork(header: Header): boolean {
  return conditionOf(header) === 'working';
}

/** Undefined while the request is waiting. */
function toOutcome(stored: StoredSession, asked: HandedRequest, action: string): Outcome | undefined {
  const { header } = stored;
  if (header.rev === asked.header.rev) return undefined;
  if (isEnded(header)) return ofEnded(header, action);
  if (action === 'cancel') return undefined;
  const parked = parkedReason(header);
  const isKept = parked !== undefined && keptAnswer(header);
  if (header.handed && !isKept) return undefined;
  const kept = isKept ? `\nThe answer is kept: \`${programName()} flows retry\` tries it again.` : '';
  if (parked !== undefined) return { status: 1, words: `It is parked: ${formatText(parked)}${kept}` };
  if (action === 'retry') return earlyEndOf(header) ? undefined : { status: 0, words: whereNow(header) };
  return ofAnswers(stored, asked);
}

function keptAnswer({ handed }: Header): boolean {
  return handed !== undefined && handed.answers.length > 0;
}

function ofEnded({ state, reason, notUndone }: Header, action: string): Outcome {
  const why = reason === undefined ? '' : ` (${formatText(reason)})`;
  if (notUndone?.length) {
    return {
      status: 1,
      words: `It has ended${why}, but these effects were not undone: ${formatText(notUndone.join(', '))}. Undo them by hand.`,
    };
  }
  if (action === 'cancel' && state !== 'cancelled') return { status: 1, words: `It ended before: ${state}${why}.` };
  return {
    status: state === 'error' ? 1 : 0,
    words: state === 'error' ? `It has failed${why}.` : `It is ${state}${why}.`,
  };
}

function ofAnswers({ header, entries }: StoredSession, { keys }: HandedRequest): Outcome {
  const refused = entries.findLast((entry) => entry.t === 'rej' && keys.includes(toPromptId(entry.k, entry.a)));
  if (refused?.t === 'rej') return { status: 1, words: `Not accepted: ${refused.k}: ${formatText(refused.why)}.` };
  if (keys.every((key) => entries.some((entry) => isAnswerTo(entry, key))))
    return { status: 0, words: whereNow(header) };
  return { status: 1, words: 'It was not accepted: the question is no longer open.' };
}

function isAnswerTo(entry: JournalEntry, promptId: string): boolean {
  return entry.t === 'ans' && toPromptId(entry.k, entry.a) === promptId && entry.meta?.['operator'] !== undefined;
}

function whereNow(header: Header): string {
  const [question] = header.current as Question[];
  if (!question) return 'Done. It is working now.';
  return `Done. It asks ${question.key} now: ${formatText(question.prompt.message)}`;
}

async function whyNot(outside: OperatorContext, id: string): Promise<string> {
  const listed = await findListed(outside, id);
  const look = `Look with: ${programName()} flows show ${id}`;
  if (!listed) return `It is gone. ${look}`;
  const { header } = listed;
  const tries = earlyEndOf(header)?.tries ?? 0;
  if (tries > 0) return `It is being ended; some effects could not be undone yet, after ${tries} tries. ${look}`;
  if (heldUntil(listed, outside) !== undefined)
    return `A server is working on the session, and will continue with this. ${look}`;
  return `No server has taken it yet. It stays in the store until a server runs that serves ${formatText(header.tool)}; --code FILE does it here. ${look}`;
}
