// Converts sessions, turns and questions to the messages of MCP Flow 0.1.0. Our extensions add members and never replace any.
import type { JsonObject } from '../../kernel/message.ts';
import { FLOW_COMPLETE, FLOW_CONTINUE, FLOW_PROMPT } from '../../kernel/methods.ts';
import type { PromptStep } from '../../kernel/form/prompt.ts';
import { ERRORS } from '../../kernel/base/error-table.ts';
import { toAnswerSchema } from '../question/answer-schema.ts';
import type { Question } from '../question/question.ts';
import type { Header } from '../journal.ts';
import { peopleOf, callerQuestions, nextDeadline, waitsForPeopleOrEvents } from '../header.ts';
import type { SessionOutcome } from '../session/turn/ended-record.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { StateView } from '../session/verbs/view.ts';

/** Adds promptId, the fields of a form, the error of a rejected answer, and whether it is a secret. Notes are only for the caller. */
export function toPrompt(question: Question): JsonObject {
  const { prompt, promptId, complaint, secret, notes, person, kind, fields } = question;
  const message = notes && !person ? [...notes, prompt.message].join('\n') : prompt.message;
  const schema = fields && { schema: toAnswerSchema({ kind, prompt, fields }) };
  return {
    ...prompt,
    message,
    promptId,
    ...schema,
    ...(secret && { secret }),
    ...(complaint && { error: complaint.error }),
  };
}

/** The message for the next question or the end. Undefined if there is neither. */
export function toNextMessage(turn: Turn): { method: string; params: JsonObject } | undefined {
  const { id: sessionId } = turn.header;
  const [question] = turn.questions;
  // A session that its owner completed has no result here, so no message.
  if (turn.failure || 'result' in turn) {
    return { method: FLOW_COMPLETE, params: { sessionId, ...toOutcome(turn) } };
  }
  if (!question) return undefined;
  const progress = toProgress(question.progress);
  const told = question.complaint ? 'prompt' : question.deliver;
  return told === 'continue'
    ? { method: FLOW_CONTINUE, params: { sessionId, nextPrompt: toPrompt(question), ...progress } }
    : { method: FLOW_PROMPT, params: { sessionId, prompt: toPrompt(question), ...progress } };
}

/** The params of `interaction.ended`, for a session that ended without a request of its client. */
export function toEndedParams({ header: { id: sessionId, tool, reason }, failure }: Turn): JsonObject {
  const message = reason === undefined ? `${tool} was cancelled` : `${tool} was cancelled: ${reason}`;
  return { sessionId, ...toOutcome({ failure: failure ?? { name: 'FLOW_ALREADY_CANCELLED', message } }) };
}

/** The outcome in `interaction.complete` and in the state. */
function toOutcome({ failure, result, summary }: SessionOutcome): JsonObject {
  if (failure) return { result: { success: false, error: withCode(failure) }, summary: failure.message };
  return { result: { success: true, data: result ?? {} }, ...(summary !== undefined && { summary }) };
}

/** A timeout has its number here, too: the request that it ends was answered long before. */
function withCode(failure: NonNullable<SessionOutcome['failure']>): JsonObject {
  return failure.name === 'FLOW_TIMEOUT' ? { ...failure, code: ERRORS.FLOW_TIMEOUT.code } : { ...failure };
}

function toProgress(progress: PromptStep | undefined): JsonObject {
  return progress ? { progress: { ...progress } } : {};
}

/** The result of `interaction.respond`. */
export function toValidation({ accepted = true, verdicts = {} }: Turn): JsonObject {
  const refused = Object.values(verdicts).find(({ valid }) => !valid);
  return { accepted: accepted && !refused, validation: { ...(refused ?? { valid: true }) } };
}

/** The people, sleeps and events that it waits for. */
export function toWaitingFor(header: Header): JsonObject {
  const people = peopleOf(header).map((person) => ({ kind: 'person', person }));
  const all = [...people, ...(header.waits ?? []).map((wait) => ({ ...wait }))];
  return all.length > 0 ? { waitingFor: all } : {};
}

export function toState({ header, history, questions, data, outcome }: StateView): JsonObject {
  const { id, state, createdAt, lastActivityAt, tool, expiresAt, parked, notUndone } = header;
  const [question] = questions;
  return {
    sessionId: id,
    state,
    metadata: { createdAt, lastActivityAt, toolName: tool, expiresAt },
    history: history.map((turn) => ({ ...turn })),
    ...(question && { currentPrompt: toPrompt(question) }),
    accumulatedData: data,
    ...(outcome && toOutcome(outcome)),
    ...toWaitingFor(header),
    ...(parked && { parked: { ...parked } }),
    ...(notUndone && { notUndone }),
  };
}

/** If the time is not known. The client makes the pauses longer while nothing happens. */
const UNKNOWN_MS = 1000;

/**
 * When a client that cannot receive requests should call `interaction.getState` again, since its question may be withdrawn. Other clients
 * get this hint too, because one may be a gateway whose own client cannot receive requests.
 */
export function lookAgain(header: Header, { now, isTold }: { now: number; isTold: boolean }): JsonObject {
  if (callerQuestions(header).length === 0) return {};
  const own = header.busy || waitsForPeopleOrEvents(header) ? now + UNKNOWN_MS : nextDeadline(header);
  const at = Math.min(own, isTold ? Infinity : header.expiresAt);
  return at === Infinity ? {} : { lookAgainMs: Math.max(at - now, 0) };
}
