// Sessions, turns and questions in the words of MCP Flow 0.1.0. What is beyond the document is added, never put in place of it.
import type { JsonObject } from '../../protocol/message.ts';
import type { PromptStep } from '../../protocol/prompt.ts';
import type { Question } from '../question/question.ts';
import type { Header } from '../journal.ts';
import { peopleOf } from '../session/external/people.ts';
import type { SessionOutcome } from '../session/turn/outcome.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { StateView } from '../session/view.ts';

/** A question as `prompt`, with its id; after a refused answer it says why, and of a secret that it is one. Notes are for the caller alone. */
export function toPrompt({ prompt, promptId, complaint, secret, notes, person }: Question): JsonObject {
  const message = notes && !person ? [...notes, prompt.message].join('\n') : prompt.message;
  return { ...prompt, message, promptId, ...(secret && { secret }), ...(complaint && { error: complaint.error }) };
}

/** How the next question, or the end, is told: the method and its params. Undefined while there is nothing to tell. */
export function toNextMessage(turn: Turn): { method: string; params: JsonObject } | undefined {
  const { id: sessionId } = turn.header;
  const [question] = turn.questions;
  // Completed by somebody else, who had the result and was answered: nothing true could be said of it here.
  if (turn.failure || 'result' in turn) {
    return { method: 'interaction.complete', params: { sessionId, ...toOutcome(turn) } };
  }
  if (!question) return undefined;
  const progress = toProgress(question.progress);
  const told = question.complaint ? 'prompt' : question.deliver;
  return told === 'continue'
    ? { method: 'interaction.continue', params: { sessionId, nextPrompt: toPrompt(question), ...progress } }
    : { method: 'interaction.prompt', params: { sessionId, prompt: toPrompt(question), ...progress } };
}

/** The end of a session that nobody has asked for: its time was over, or that of a question without which it cannot go on. */
export function toEndedParams({ header: { id: sessionId, tool, reason }, failure }: Turn): JsonObject {
  const message = reason === undefined ? `${tool} was cancelled` : `${tool} was cancelled: ${reason}`;
  return { sessionId, ...toOutcome({ failure: failure ?? { name: 'FLOW_ALREADY_CANCELLED', message } }) };
}

/** How a session ended, in `interaction.complete` and in its state. */
function toOutcome({ failure, result, summary }: SessionOutcome): JsonObject {
  if (failure) return { result: { success: false, error: failure }, summary: failure.message };
  return { result: { success: true, data: result ?? {} }, ...(summary !== undefined && { summary }) };
}

function toProgress(progress: PromptStep | undefined): JsonObject {
  return progress ? { progress: { ...progress } } : {};
}

/** What was made of an answer. */
export function toValidation({ accepted = true, verdicts = {} }: Turn): JsonObject {
  const refused = Object.values(verdicts).find(({ valid }) => !valid);
  return { accepted: accepted && !refused, validation: { ...(refused ?? { valid: true }) } };
}

/** Whom and what it waits for beside its user. */
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
