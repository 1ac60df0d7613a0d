// The two kinds of error. A GatewayError has a code of the table; the peer's dialect decides its number and text. A
// ProtocolError has a number from, or for, a peer and passes unchanged.
import { ERRORS } from './error-table.ts';
import type { ErrorCode, ErrorRow } from './error-table.ts';
import { secrets } from '../secrets/secrets.ts';
import { shorten } from './visible.ts';

/**
 * An error with a code of the error table (docs/errors.md), and details that fill its message.
 *
 * @example
 * ```ts
 * import { GatewayError } from 'mcp-parley';
 * import { onCall } from 'mcp-parley/middleware';
 *
 * const officeHours = onCall((exchange, next) => {
 *   if (new Date().getHours() < 8) throw new GatewayError('TOOL_NOT_FOUND', { name: exchange.params.name });
 *   return next();
 * });
 * ```
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** Values for the message; dialects build `error.data` from them. Never contains a secret. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    const { message, fault } = ERRORS[code];
    const told = fault === 'client' ? bounded(details) : masked(details);
    super(fill(message, told), options);
    this.name = 'GatewayError';
    this.code = code;
    this.details = told;
  }

  get row(): ErrorRow {
    return ERRORS[this.code];
  }

  /** How long a busy server asks to wait. */
  get retryAfterMs(): number | undefined {
    return spanIn(this.details);
  }
}

/**
 * An error as a peer sent it, or as it is to be sent: it passes unchanged.
 *
 * @example
 * ```ts
 * import { createServer, ProtocolError } from 'mcp-parley';
 *
 * const server = createServer({ name: 'files', version: '1.0.0' });
 * server.prompt('review', { description: 'Reviews a file' }, () => {
 *   throw new ProtocolError(-32602, 'There is nothing to review');
 * });
 * ```
 */
export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.data = data;
  }

  get retryAfterMs(): number | undefined {
    return spanIn(this.data);
  }
}

/** Its data are questions with URLs, which are of use only as they are. */
const URL_ELICITATION_REQUIRED = -32042;

/** The error that a server has sent: unchanged, but for secrets. A server knows its own, and clients must not. */
export function toServerError(error: { code: number; message: string; data?: unknown }): ProtocolError {
  const { code, message, data } = error;
  const shown = code === URL_ELICITATION_REQUIRED ? data : secrets.maskDeep(data);
  return new ProtocolError(code, secrets.mask(message), shown);
}

function spanIn(holder: unknown): number | undefined {
  const ms = (holder as { retryAfterMs?: unknown } | null | undefined)?.retryAfterMs;
  return typeof ms === 'number' && ms >= 0 && Number.isFinite(ms) ? ms : undefined;
}

/** Far longer than any useful quote. */
const MAX_QUOTED = 2000;

/** Shortens what a client sent before it is quoted in the message and in `error.data`. */
function bounded(details: Record<string, unknown>): Record<string, unknown> {
  const { data } = details;
  const told = shortened(details);
  return isPlain(data) ? { ...told, data: shortened(data) } : told;
}

function shortened(details: Record<string, unknown>): Record<string, unknown> {
  const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > MAX_QUOTED;
  if (!Object.values(details).some(isLong)) return details;
  const entries = Object.entries(details);
  return Object.fromEntries(entries.map(([name, value]) => [name, isLong(value) ? shorten(value, MAX_QUOTED) : value]));
}

/** A link to a login is of use only as it is. */
function masked({ link, ...details }: Record<string, unknown>): Record<string, unknown> {
  return { ...secrets.maskDeep(details), ...(link !== undefined && { link }) };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function fill(template: string, details: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? name));
}

/**
 * Converts anything thrown into one of our errors. A foreign error is kept as the cause for the log, but its message is
 * withheld from the peer: it may contain paths, queries or secrets.
 */
export function toError(thrown: unknown): GatewayError | ProtocolError {
  const cause = toReadable(thrown);
  if (cause instanceof GatewayError || cause instanceof ProtocolError) return cause;
  return toPeersError(cause) ?? new GatewayError('INTERNAL', {}, { cause });
}

/** What was thrown, in words: anything can be thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What an author has thrown, or an error in its place if nothing can be asked of it, as of a revoked proxy. */
export function toReadable(thrown: unknown): unknown {
  try {
    void (thrown instanceof Error); // it is asked for its prototype
    return thrown;
  } catch {
    return new Error('What was thrown cannot be read');
  }
}

/** Its getters may throw. */
function toPeersError(thrown: unknown): ProtocolError | undefined {
  try {
    return isProtocolShaped(thrown) ? new ProtocolError(thrown.code, thrown.message, thrown.data) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Errors of the official SDKs have a JSON-RPC code. Other integers are common (gRPC, databases, DOMException) and
 * private.
 */
function isProtocolShaped(thrown: unknown): thrown is Error & { code: number; data?: unknown } {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false;
  const { code } = thrown;
  return Number.isInteger(code) && (code as number) >= -32768 && (code as number) <= -32000;
}

/** A call of a tool that did not finish has an error of its own, since the tool may have run. */
export function toToolError(error: Error, server: string): Error {
  const isLost =
    error instanceof GatewayError && (error.code === 'UPSTREAM_CLOSED' || error.code === 'UPSTREAM_TIMEOUT');
  return isLost ? new GatewayError('TOOL_UNREACHABLE', { reason: error.message, server }, { cause: error }) : error;
}
