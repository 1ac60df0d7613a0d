// Converts a round of questions to one request to the client, and reads the answers back. Secrets and files do not belong in a client's
// form; Parley's page asks for them.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { AskFailure } from '../authoring/ask-failure.ts';
import { toPromptId } from '../question/question.ts';
import type { Question } from '../question/question.ts';
import type { GivenAnswer } from '../session/verbs/requests.ts';
import type { Turn } from '../session/turn/turn.ts';
import { answerContent, fromForm, toForm } from './client-form.ts';

/** A turn with open questions, and what led to it. */
export interface FormRound {
  turn: Turn;
  /** Text to show first. */
  told?: string | undefined;
  /** Answers to the previous round; refused ones are shown again. */
  given?: readonly GivenAnswer[] | undefined;
}

export function toFormAsk({ turn: { questions, header }, told, given = [] }: FormRound): Ask {
  const { message, requestedSchema } = toForm(questions, { told, entered: toRefusedValues(questions, given) });
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    ...(questions.some(({ by }) => by === 'human') && { human: true }),
    ...(questions.some(needsPage) && { page: true }),
    ...(header.rounds > 1 && { revisable: true }),
    key: toRoundKeys(questions),
  };
}

/** Refused values by key. */
function toRefusedValues(questions: readonly Question[], given: readonly GivenAnswer[]): Map<string, unknown> {
  const last = new Map(given.map(({ promptId, value }) => [promptId, value]));
  const again = questions.filter(({ complaint, attempt }) => complaint !== undefined && attempt > 1);
  return new Map(again.map(({ key, attempt }) => [key, last.get(toPromptId(key, attempt - 1))]));
}

export function toGivenAnswers(questions: readonly Question[], answer: JsonObject): GivenAnswer[] {
  if (answer.action === 'accept') return fromForm(questions, answerContent(answer));
  const no: AskFailure = answer.action === 'decline' ? 'declined' : 'cancelled';
  return questions.map(({ promptId }) => ({ promptId, no }));
}

/** The keys of the questions; a repeated question has its attempt in the key. */
export function toRoundKeys(questions: readonly Question[]): string {
  return questions.map(({ key, attempt, promptId }) => (attempt === 1 ? key : promptId)).join(' ');
}

export function needsPage({ secret, kind, fields = {} }: Question): boolean {
  return secret === true || kind === 'file' || Object.values(fields).some((field) => field.kind === 'file');
}
