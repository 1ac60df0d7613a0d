// Answers the questions of an `input_required` result and makes the params of the retry. The state goes back exactly as it
// came, and only if one came; answers of an earlier round are never sent again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { OutgoingCall, ServerEvents } from '../../../protocol/server-view.ts';
import { toAsk } from '../answer-ask.ts';

/** A result without questions asks for patience only. */
const PACE_MS = 250;

export async function answerQuestions(
  call: OutgoingCall,
  result: JsonObject,
  events: ServerEvents,
): Promise<JsonObject> {
  const { requestState } = result;
  const questions = isObject(result.inputRequests) ? Object.entries(result.inputRequests) : [];
  const signal = call.signal ?? new AbortController().signal;
  if (questions.length === 0) await sleep(PACE_MS, undefined, { signal });
  const ask = call.ask ?? ((question, abort) => events.onAsk(question, abort));
  const answers = await Promise.all(
    questions.map(async ([key, question]) => {
      const { method, params } = isObject(question) ? question : {};
      return [key, await ask({ ...toAsk(String(method), params as JsonObject | undefined), key }, signal)] as const;
    }),
  );
  return {
    ...call.params,
    ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) }),
    ...(requestState !== undefined && { requestState }),
  };
}
