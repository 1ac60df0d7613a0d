// Errors of a server in neutral words, so that each client is told them in its own. What a server says beyond "there is no
// such thing" passes unchanged.
import type { Exchange } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/message.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

const UNKNOWN = /unknown|not found|does not exist|no such/i;

export function toTargetError(thrown: unknown, exchange: Exchange, server: string): unknown {
  if (thrown instanceof ProtocolError) return toNotFound(thrown, exchange) ?? thrown;
  if (!(thrown instanceof GatewayError)) return thrown;
  // The call could not be brought to an end: that is a matter of its own for tools (ledger X-06).
  const lost = thrown.code === 'UPSTREAM_CLOSED' || thrown.code === 'UPSTREAM_TIMEOUT';
  if (lost && exchange.method === 'tools/call') {
    return new GatewayError('TOOL_UNREACHABLE', { reason: thrown.message, server }, { cause: thrown });
  }
  return thrown;
}

function toNotFound(error: ProtocolError, { method, params }: Exchange): GatewayError | undefined {
  const { code, message, data } = error;
  const origin = { origin: error };
  if (
    method === 'tools/call' &&
    (code === -32001 || (code === -32602 && UNKNOWN.test(message) && /tool/i.test(message)))
  ) {
    return new GatewayError('TOOL_NOT_FOUND', { name: params.name, ...origin });
  }
  if (
    method === 'prompts/get' &&
    (code === -32003 || (code === -32602 && UNKNOWN.test(message) && /prompt/i.test(message)))
  ) {
    return new GatewayError('PROMPT_NOT_FOUND', { name: params.name, ...origin });
  }
  const named = isObject(data) && data.uri === params.uri;
  if (method === 'resources/read' && (code === -32002 || (code === -32602 && (named || UNKNOWN.test(message))))) {
    return new GatewayError('RESOURCE_NOT_FOUND', { uri: params.uri, ...origin });
  }
  return undefined;
}
