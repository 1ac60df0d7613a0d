// MCP Flow in the stateless era, where it is an extension. Its error codes lie in a range that this era reserves, so
// they are moved and the error's data names the original; errors from servers are moved back.
import { FLOW_EXTENSION } from '../../../kernel/extensions.ts';
import { isInteraction } from '../../../kernel/interaction.ts';
import type { JsonObject, WireError } from '../../../kernel/message.ts';
import { isObject } from '../../../kernel/message.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';

const NAMES: Readonly<Record<number, string>> = {
  [-32000]: 'LIMIT_EXCEEDED',
  [-32001]: 'SESSION_NOT_FOUND',
  [-32002]: 'SESSION_EXPIRED',
  [-32003]: 'INVALID_STATE_TRANSITION',
  [-32004]: 'VALIDATION_FAILED',
  [-32005]: 'TIMEOUT',
  [-32006]: 'ALREADY_CANCELLED',
  [-32007]: 'NOT_INTERACTIVE',
};
const LIMIT = -32000;
const MOVED_LIMIT = -31010;

/** The error with its moved code; undefined if it is not a Flow error. */
export function toFlowError(method: string, { code, message, data }: WireError): WireError | undefined {
  const name = isInteraction(method) ? NAMES[code] : undefined;
  if (name === undefined) return undefined;
  const about = isObject(data) ? data : data === undefined ? {} : { detail: data };
  return { code: code === LIMIT ? MOVED_LIMIT : code + 1000, message, data: { ...about, flow: { code, name } } };
}

/** Restores the original code of a server's Flow error. */
export function fromFlowError<T>(said: Promise<T>): Promise<T> {
  return said.catch((thrown: unknown) => {
    throw thrown instanceof ProtocolError ? toMeant(thrown) : thrown;
  });
}

/** Declares the extension, beside the `experimental` key that the handshake era uses. */
export function withFlowExtension(capabilities: JsonObject): JsonObject {
  const { experimental, extensions } = capabilities;
  const declared = isObject(experimental) ? experimental.mcpFlow : undefined;
  if (declared === undefined) return capabilities;
  return { ...capabilities, extensions: { ...(extensions as JsonObject), [FLOW_EXTENSION]: declared } };
}

function toMeant(error: ProtocolError): ProtocolError {
  const { flow, ...data } = isObject(error.data) ? error.data : {};
  const code = isObject(flow) ? flow.code : undefined;
  return typeof code === 'number' && code in NAMES ? new ProtocolError(code, error.message, data) : error;
}
