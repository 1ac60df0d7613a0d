// Reads and removes the params of a retry, which carry answers. They belong to the era, so no target sees them.
import type { JsonObject, RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { CALL_METHODS } from '../../../protocol/methods.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { SplitParams } from '../meta.ts';

/** The answers by question key. Throws INVALID_PARAMS for a malformed one, which another retry can correct. */
export function readAnswers({ method, params }: RequestMessage): JsonObject | undefined {
  const answers = params?.inputResponses;
  if (answers === undefined || !CALL_METHODS.has(method)) return undefined;
  if (!isObject(answers)) throw malformed('inputResponses');
  const wrong = Object.keys(answers).find((key) => !isObject(answers[key]));
  if (wrong !== undefined) throw malformed(`inputResponses.${wrong}`);
  return answers;
}

export function withoutRetry(method: string, split: SplitParams): SplitParams {
  const { params } = split;
  if (!CALL_METHODS.has(method) || !('inputResponses' in params || 'requestState' in params)) return split;
  const { inputResponses, requestState, ...rest } = params;
  return { ...split, params: rest };
}

function malformed(parameter: string): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter, error: 'Must be an object' });
}
