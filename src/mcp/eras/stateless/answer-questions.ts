// Answers the questions of an `input_required` result and builds the params of the retry. The state goes back exactly
// as it came; answers of earlier rounds are not repeated. A question that cannot be answered ends the call, because the
// era has no way to tell the server why.
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { OutgoingCall, ServerEvents } from '../../../kernel/server-view.ts';
import { toSuspended } from '../../../kernel/target.ts';
import type { SuspendedCall } from '../../../kernel/target.ts';
import type { ResumedCall } from '../../../kernel/exchange.ts';
import { CALL_METHODS } from '../../../kernel/methods.ts';
import { cancelledBy } from '../../../kernel/base/cancelled-error.ts';
import { rejectOnAbort } from '../../../kernel/base/timing.ts';
import { MAX_STATE_MS } from '../../../kernel/base/limits.ts';
import { readAsk } from '../ask.ts';
import { META } from '../meta.ts';

/** A result without questions asks only to try again later. */
const PACE_MS = 250;

/** Why the result is invalid; undefined if it is valid. */
export function whyNotAnswerable(method: string, { inputRequests, requestState }: JsonObject): string | undefined {
  if (!CALL_METHODS.has(method)) return `${method} may not answer with questions`;
  if (inputRequests === undefined && requestState === undefined) return `${method} asked for nothing`;
  if (requestState !== undefined && typeof requestState !== 'string') return 'requestState must be a string';
  if (inputRequests !== undefined && !isObject(inputRequests)) return 'inputRequests must be an object';
  const odd = Object.entries(inputRequests ?? {}).find(([, question]) => !isQuestion(question));
  return odd && `inputRequests.${odd[0]} is not a request`;
}

/** The params of a call, with the answers to its earlier questions. */
export function withAnswers({ params }: OutgoingCall, { state, answers }: ResumedCall): JsonObject {
  return {
    ...params,
    ...(Object.keys(answers).length > 0 && { inputResponses: answers }),
    ...(state !== undefined && { requestState: state }),
  };
}

export async function answerQuestions(
  call: OutgoingCall,
  { inputRequests = {}, requestState }: JsonObject,
  events: ServerEvents,
): Promise<JsonObject> {
  const questions = Object.entries(inputRequests as Record<string, { method: string; params?: JsonObject }>);
  const ask = call.ask ?? ((question, abort) => events.onAsk(question, abort));
  const { inputResponses: _given, requestState: _state, ...params } = call.params ?? {};
  const isGiven = (key: string): boolean => Object.hasOwn(call.resumed?.answers ?? {}, key);
  const controller = new AbortController();
  const allAnswers = async (): Promise<[string, JsonObject][]> => {
    if (questions.length === 0) await sleep(PACE_MS, undefined, { signal: controller.signal });
    return Promise.all(
      questions.map(async ([key, { method, params }]) => [
        key,
        // The server asks again although the answer was sent ahead, so that answer did not count.
        await ask({ ...readAsk(method, params), key, ...(isGiven(key) && { askedFirst: true }) }, controller.signal),
      ]),
    );
  };
  let answers;
  try {
    answers = await rejectOnAbort(allAnswers(), call.signal, () => cancelledBy(call.signal));
  } catch (thrown) {
    controller.abort(call.signal?.aborted ? call.signal.reason : thrown);
    throw thrown;
  }
  return {
    ...params,
    ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
    ...(requestState !== undefined && { requestState }),
  };
}

/** The questions and the state, as a suspended call. A server of ours says for how long it takes the answers. */
export function toSuspension(
  { inputRequests = {}, requestState, _meta: meta }: JsonObject,
  isOfProcess = false,
): JsonObject {
  const lasts = isObject(meta) ? meta[META.lasts] : undefined;
  const lastsMs = typeof lasts === 'number' && lasts > 0 ? Math.min(lasts, MAX_STATE_MS) : undefined;
  const suspended = { questions: inputRequests, state: requestState, lastsMs, ...(isOfProcess && { isOfProcess }) };
  return toSuspended(suspended as SuspendedCall);
}

/** Whether one of them is only for a person. */
export function asksHuman({ inputRequests }: JsonObject): boolean {
  return Object.values(isObject(inputRequests) ? inputRequests : {}).some(
    (one) => isObject(one) && readAsk('', isObject(one.params) ? one.params : undefined).human === true,
  );
}

function isQuestion(question: unknown): boolean {
  if (!isObject(question) || typeof question.method !== 'string') return false;
  return question.params === undefined || isObject(question.params);
}
