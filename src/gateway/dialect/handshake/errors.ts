// Encodes errors for the handshake era. 2025-03-26 uses the codes of the mcp-chain reference, every other revision the
// official ones. From 2025-11-25 on, bad arguments are a result that the model can read and correct.
import type { JsonObject, WireError } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { ProtocolError } from '../../../shared/errors.ts';
import type { GatewayError } from '../../../shared/errors.ts';
import { META } from '../meta.ts';
import { plainError, toWire } from '../plain-error.ts';
import type { Features } from '../revisions.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';

export type ErrorAnswer = { result: JsonObject } | { error: WireError };

export function toHandshakeError(
  error: GatewayError | ProtocolError,
  exchange: ServedExchange,
  features: Features,
): ErrorAnswer {
  if (error instanceof ProtocolError) return { error: plainError(error) };
  const { code, details } = error;
  if (code === 'INVALID_ARGUMENTS') {
    if (features.argumentErrorsInResults) return asResult(error.message);
    return { error: toWire(-32602, 'Invalid params', { parameter: details.parameter, error: details.error }) };
  }
  if (code === 'CLIENT_CANNOT_BE_ASKED') {
    const { requiredCapabilities: required, origin } = details;
    const message = origin instanceof ProtocolError ? origin.message : error.message;
    if (exchange.method === 'tools/call') return asResult(message, required && { [META.required]: required });
    return { error: toWire(-32603, message, required && { requiredCapabilities: required }) };
  }
  const { origin } = details;
  const wire = features.chainCodes ? chainError(error) : undefined;
  if (wire && !(origin instanceof ProtocolError && origin.code === wire.code)) return { error: wire };
  // Servers use several codes for "not found", and this era allows all of them.
  if (origin instanceof ProtocolError) return { error: plainError(origin) };
  const resource = code === 'RESOURCE_NOT_FOUND';
  return {
    error: resource ? toWire(-32002, 'Resource not found', { uri: details.uri }) : plainError(error, exchange.id),
  };
}

function asResult(text: string, meta?: unknown): ErrorAnswer {
  const result = { content: [{ type: 'text', text }], isError: true };
  return { result: isObject(meta) ? { ...result, _meta: meta } : result };
}

function chainError({ code, details }: GatewayError): WireError | undefined {
  switch (code) {
    case 'TOOL_NOT_FOUND':
      return toWire(-32001, 'Tool not found', `Tool '${String(details.name)}' does not exist`);
    case 'RESOURCE_NOT_FOUND':
      return toWire(-32002, 'Resource not found', `Resource '${String(details.uri)}' does not exist`);
    case 'PROMPT_NOT_FOUND':
      return toWire(-32003, 'Prompt not found', `Prompt '${String(details.name)}' does not exist`);
    case 'TOOL_UNREACHABLE':
      return toWire(-32004, 'Tool execution failed', details.reason);
    case 'ACCESS_DENIED':
      return toWire(-32005, 'Resource access denied', `Access to '${String(details.uri)}' is denied`);
    default:
      return undefined;
  }
}
