// Encodes errors for the draft dialect: a missing argument is 4001 without data, an unknown tool is -32001.
import { GatewayError } from '../../../shared/errors.ts';
import type { ProtocolError } from '../../../shared/errors.ts';
import type { ErrorAnswer } from '../handshake/errors.ts';
import { plainError, toWire } from '../plain-error.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';

export function toDraftError(error: GatewayError | ProtocolError, exchange: ServedExchange): ErrorAnswer {
  if (!(error instanceof GatewayError)) return { error: plainError(error) };
  const { code, details } = error;
  switch (code) {
    case 'INVALID_ARGUMENTS': {
      const parameter = String(details.parameter);
      if (details.missing) return { error: toWire(4001, `Missing required parameter '${parameter}'`) };
      return { error: toWire(-32602, 'Invalid params', { parameter, error: details.error }) };
    }
    case 'TOOL_NOT_FOUND':
      return { error: toWire(-32001, 'Tool not found', `Tool '${String(details.name)}' does not exist`) };
    case 'CLIENT_CANNOT_BE_ASKED':
      return { result: { status: 'error', output: { message: error.message } } };
    default:
      return { error: plainError(error, exchange.id) };
  }
}
