// Plays everybody else a flow on the terminal waits for: people who are asked by `ask.person`, and senders of events. The person at the
// terminal answers for all of them, one at a time, after the user's own questions.
import type { Complaint, Question } from '../../flow/question/question.ts';
import { withOutcome } from '../../flow/session/turn/outcome.ts';
import { waitForTurn } from '../../flow/session/verbs/session-watch.ts';
import type { GivenAnswer } from '../../flow/session/verbs/requests.ts';
import type { Sessions } from '../../flow/session/sessions.ts';
import { afterSteps } from '../../flow/session/turn/turn.ts';
import type { Turn } from '../../flow/session/turn/turn.ts';
import { nextDeadline, callerQuestions } from '../../flow/session/external/waits.ts';
import { isEnded } from '../../flow/store/store.ts';

/** Something that somebody else has to do, as a question to the terminal. */
export interface OtherQuestion {
  question: Question;
  /** For whom it is; undefined for an event. */
  principal: string | undefined;
}

/** Until it asks something, of whomever, or ends. Time that only passes is waited for. */
export async function playToRest(sessions: Sessions, turn: Turn): Promise<Turn> {
  let last = await afterSteps(turn);
  while (!isEnded(last.header) && last.questions.length === 0 && !waitsForOthers(last)) {
    last = await waitForTurn(sessions, last.header, afterSteps);
  }
  return last;
}

function waitsForOthers(turn: Turn): boolean {
  return findOtherQuestions(turn, new Map()).length > 0;
}

/** What it waits for of others, where the user is asked nothing. `refused` says what was wrong with events, by their keys. */
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

/** It goes on by itself some time. */
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

/** Where the answer leads to. Rejects where an event does not fit. */
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

/** Where it stands: nothing has followed yet, or the answer was refused. */
async function standing({ setup }: Sessions, sessionId: string): Promise<Turn> {
  const stored = await setup.store.load(sessionId);
  if (!stored) throw new Error('The session is gone');
  const { header } = stored;
  return { header, questions: callerQuestions(header), ...withOutcome(setup, header) };
}
