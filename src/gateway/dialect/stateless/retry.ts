// The params by which a retry brings the answers to a call's questions. They belong to the era, not to the call: no target
// sees them.
import type { JsonObject, RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { SplitParams } from '../meta.ts';

/** Only these may answer with questions. */
export const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Answers by the key of their question. Throws INVALID_PARAMS for what cannot be an answer: a retry can mend it. */
export function readAnswers({ method, params }: RequestMessage): JsonObject | undefined {
  const answers = params?.inputResponses;
  if (answers === undefined || !MAY_ASK.has(method)) return undefined;
  if (!isObject(answers)) throw malformed('inputResponses');
  const wrong = Object.keys(answers).find((key) => !isObject(answers[key]));
  if (wrong !== undefined) throw malformed(`inputResponses.${wrong}`);
  return answers;
}

export function withoutRetry(method: string, split: SplitParams): SplitParams {
  const { params } = split;
  if (!MAY_ASK.has(method) || !('inputResponses' in params || 'requestState' in params)) return split;
  const { inputResponses, requestState, ...rest } = params;
  return { ...split, params: rest };
}

function malformed(parameter: string): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter, error: 'Must be an object' });
}
