// Encodes errors for the stateless era, with the HTTP status to use while nothing has been sent.
import type { JsonObject, WireError } from '../../../protocol/message.ts';
import { ProtocolError } from '../../../shared/errors.ts';
import type { GatewayError } from '../../../shared/errors.ts';
import { TASKS_EXTENSION } from '../meta.ts';
import { withServerWords, plainError, toWire } from '../plain-error.ts';

export type StatelessAnswer = { result: JsonObject } | { error: WireError; status: number };

/** `atEdge` means that the target has not seen the request; then bad params are a bad HTTP request too. */
export function toStatelessError(
  error: GatewayError | ProtocolError,
  exchangeId: string,
  atEdge: boolean,
): StatelessAnswer {
  if (error instanceof ProtocolError) return { error: plainError(error), status: 200 };
  const { code, details, row } = error;
  switch (code) {
    case 'INVALID_ARGUMENTS':
      return { result: { content: [{ type: 'text', text: error.message }], isError: true } };
    case 'RESOURCE_NOT_FOUND':
      return {
        error: withServerWords(error, toWire(-32602, error.message, { uri: details.uri }), 'stateless'),
        status: 200,
      };
    case 'UNSUPPORTED_VERSION':
      return { error: { ...plainError(error), code: -32022 }, status: 400 };
    case 'TASK_REQUIRED':
      return { error: toWire(-32021, error.message, tasksRequired()), status: 400 };
    case 'INVALID_PARAMS':
      return { error: plainError(error), status: atEdge ? 400 : 200 };
    default:
      // Clients read an error only from the body of a 200; a 5xx status would hide it.
      return {
        error: withServerWords(error, plainError(error, exchangeId), 'stateless'),
        status: row.fault === 'client' ? row.status : 200,
      };
  }
}

export function tasksRequired(): JsonObject {
  return { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
}
