// Lets the user at the terminal answer for everybody else a flow waits for: people asked by `ask.person`, and senders of events. They come
// one at a time, after the user's own questions.
import type { Complaint, Question } from '../../../flow/question/question.ts';
import { withOutcome } from '../../../flow/session/turn/ended-record.ts';
import { waitForTurn } from '../../../flow/session/verbs/session-watch.ts';
import type { GivenAnswer } from '../../../flow/session/context/requests.ts';
import type { Sessions } from '../../../flow/session/sessions.ts';
import { afterSteps } from '../../../flow/session/turn/turn.ts';
import type { Turn } from '../../../flow/session/turn/turn.ts';
import { nextDeadline, callerQuestions, isEnded } from '../../../flow/header.ts';

/** What somebody else has to answer, as a question for the terminal. */
export interface OtherQuestion {
  question: Question;
  /** Whose question it is; undefined for an event. */
  principal: string | undefined;
}

/** Waits until the session asks anyone something, or ends; also through sleeps and pauses. `onSleep` is called before a long one. */
export async function playToRest(sessions: Sessions, turn: Turn, onSleep: (text: string) => void): Promise<Turn> {
  let last = await afterSteps(turn);
  while (!isEnded(last.header) && last.questions.length === 0 && !waitsForOthers(last)) {
    const text = describeSleep(last, sessions.context.clock.now());
    if (text !== undefined) onSleep(text);
    last = await waitForTurn(sessions, last.header, afterSteps);
  }
  return last;
}

const LONG_MS = 10_000;

/** Undefined if it does not last. */
function describeSleep({ header }: Turn, now: number): string | undefined {
  const until = nextDeadline(header);
  if (until === Infinity || until - now < LONG_MS) return undefined;
  const keys = (header.waits ?? []).map(({ key }) => key).join(', ');
  const when = new Date(until).toISOString();
  return `Sleeps until ${when} (${keys}): this command really waits. Ctrl+C ends it; testFlow plays the flow without waiting.`;
}

function waitsForOthers(turn: Turn): boolean {
  return findOtherQuestions(turn, new Map()).length > 0;
}

/** What the session waits for from others while the user is asked nothing. `refused` has the problems of events, by key. */
export function findOtherQuestions(
  { header, questions }: Turn,
  refused: ReadonlyMap<string, Complaint>,
): OtherQuestion[] {
  if (isEnded(header) || questions.length > 0) return [];
  const people = (header.current as Question[]).flatMap((question) => (question.person ? [toPersonal(question)] : []));
  if (people.length > 0 || header.busy) return people;
  const events = (header.waits ?? []).filter(({ kind }) => kind === 'event');
  return events.map(({ key }) => toAwaited(key, refused.get(key)));
}

/** The session has a timer and will continue without an answer. */
export function continuesByItself({ header }: Turn): boolean {
  return nextDeadline(header) < Infinity;
}

function toPersonal(question: Question): OtherQuestion {
  const { prompt, person } = question;
  const { principal } = person!;
  return {
    principal,
    question: { ...question, prompt: { ...prompt, message: `for ${principal}: ${prompt.message}` } },
  };
}

function toAwaited(key: string, complaint: Complaint | undefined): OtherQuestion {
  const message = `The flow waits for the event ${key}. What does it bring, as JSON?`;
  const prompt = { type: 'custom' as const, message, validation: { required: true } };
  const attempt = complaint ? 2 : 1;
  return { principal: undefined, question: { promptId: key, key, attempt, kind: 'custom', prompt, complaint } };
}

/** Resolves with the turn after the answer. Rejects if an event does not match its schema. */
export async function answerForOther(
  sessions: Sessions,
  { header: { id: sessionId } }: Turn,
  { of: { principal, question }, answer }: { of: OtherQuestion; answer: GivenAnswer },
): Promise<Turn> {
  const turns: Turn[] = [];
  const off = sessions.on((event) => {
    if (event.kind === 'turn' && event.turn.header.id === sessionId) turns.push(event.turn);
  });
  const done =
    principal === undefined
      ? sessions.deliver({ sessionId, event: question.key, value: answer.value })
      : sessions.answer({ principal, sessionId, answers: [answer], via: 'terminal' });
  await done.finally(off);
  return turns.at(-1) ?? (await standing(sessions, sessionId));
}

/** The stored state: nothing has followed yet, or the answer was refused. */
async function standing({ context }: Sessions, sessionId: string): Promise<Turn> {
  const stored = await context.store.load(sessionId);
  if (!stored) throw new Error('The session is gone');
  const { header } = stored;
  return { header, questions: callerQuestions(header), ...withOutcome(context, header) };
}
