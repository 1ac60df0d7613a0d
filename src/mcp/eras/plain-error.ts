// The default wire form of errors, for dialects without a form of their own.
import type { ClientView } from '../../kernel/exchange.ts';
import type { WireError } from '../../kernel/message.ts';
import type { ErrorCode } from '../../kernel/base/error-table.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import type { GatewayError } from '../../kernel/base/errors.ts';

type Details = GatewayError['details'];

export function plainError(error: GatewayError | ProtocolError, exchangeId?: string): WireError {
  if (error instanceof ProtocolError) return toWire(error.code, error.message, error.data);
  const data = DATA[error.code]?.(error.details) ?? traceable(error, exchangeId);
  return toWire(error.row.code, error.message, data);
}

/** Adds the exchange id unless the client is at fault, so that an operator can find the log entry. */
function traceable({ row }: GatewayError, exchange: string | undefined): { exchange: string } | undefined {
  return exchange !== undefined && exchange !== '' && row.fault !== 'client' ? { exchange } : undefined;
}

/**
 * The server's own error if both sides speak the same era; otherwise its message under the code of the client's era.
 */
export function withServerWords(error: GatewayError, encoded: WireError, dialect: ClientView['dialect']): WireError {
  const { origin, dialect: spoken } = error.details;
  if (!(origin instanceof ProtocolError)) return encoded;
  return spoken === dialect ? plainError(origin) : toWire(encoded.code, origin.message, origin.data);
}

export function toWire(code: number, message: string, data?: unknown): WireError {
  return data === undefined ? { code, message } : { code, message, data };
}

/** `error.data` by code. */
const DATA: Partial<Record<ErrorCode, (details: Details) => unknown>> = {
  INVALID_REQUEST: ({ data }) => data,
  PARSE_ERROR: ({ data }) => data,
  METHOD_NOT_FOUND: ({ method }) => `Unknown method: ${String(method)}`,
  INVALID_PARAMS: ({ data, parameter, error }) => data ?? { parameter, error },
  INVALID_ARGUMENTS: ({ parameter, error }) => ({ parameter, error }),
  RESOURCE_NOT_FOUND: ({ uri }) => ({ uri }),
  ACCESS_DENIED: ({ uri }) => ({ uri }),
  STEP_FAILED: ({ step, exchange }) => ({ step, exchange }),
  LOOP: () => ({ loop: true }),
  GATEWAY_STOPPED: () => ({ stopped: true }),
  OWNER_LOST: () => ({ ownerLost: true, mayHaveActed: 'unknown' }),
  NODE_AWAY: () => ({ mayHaveActed: 'no' }),
  TOO_MANY: ({ limit, retryAfterMs }) => ({ limit, retryAfterMs }),
  RATE_LIMITED: ({ limit, retryAfterMs }) => ({ limit, retryAfterMs }),
  UPSTREAM_BUSY: ({ retryAfterMs }) => ({ retryAfterMs }),
  UNSUPPORTED_VERSION: ({ supported, requested }) => ({ supported, requested }),
  FLOW_SESSION_NOT_FOUND: ({ sessionId }) => ({ sessionId }),
  FLOW_SESSION_EXPIRED: ({ sessionId }) => ({ sessionId }),
  FLOW_ALREADY_CANCELLED: ({ sessionId }) => ({ sessionId }),
  FLOW_INVALID_TRANSITION: (details) => details,
  FLOW_VALIDATION_FAILED: (details) => details,
  FLOW_TIMEOUT: (details) => details,
  FLOW_NOT_INTERACTIVE: ({ tool }) => ({ toolName: tool }),
  FLOW_LIMIT: ({ sessionId, limit, retryAfterMs }) => ({ sessionId, limit, retryAfterMs }),
  CLIENT_CANNOT_BE_ASKED: ({ requiredCapabilities }) => ({ requiredCapabilities }),
};
