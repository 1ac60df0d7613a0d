// The error response of a server to an HTTP request, as its reader reports it, and the error that the caller gets for it. A JSON-RPC message of the
// server is kept; an error page is not, because it may be of any size and hold anything.
import { isObject } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError, toServerError } from '../../../kernel/base/errors.ts';

/** The server answered a POST with an HTTP error; a JSON-RPC body is evidence for the era probe. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: unknown, retryAfterMs?: number) {
    super(`HTTP ${status}`);
    this.name = 'HttpRefusal';
    this.status = status;
    this.body = body;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Codes that servers in the field use for an unknown session. */
const OF_SESSIONS = [-32000, -32001, -32600];
const MAX_CHARS = 500;

interface Said {
  code: number;
  message: string;
  data: unknown;
}

export function fromRefusal({ status, body, retryAfterMs }: HttpRefusal, server: string): Error {
  if (status === 401 || status === 403) return new GatewayError('UPSTREAM_UNAUTHORIZED', { server, status });
  const said = saidIn(body);
  if (status === 508) return new GatewayError('LOOP', { server, reason: said?.message ?? 'HTTP 508' });
  const target = status < 400 && typeof body === 'string' ? body : ''; // of a redirect
  const words = (said?.message ?? target).slice(0, MAX_CHARS);
  const reason = words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`;
  const hint = hinted(said) ?? retryAfterMs;
  if (status === 429 || (status === 503 && hint !== undefined)) {
    return new GatewayError('UPSTREAM_BUSY', {
      server,
      status,
      reason,
      ...(hint !== undefined && { retryAfterMs: hint }),
    });
  }
  if (isSessionLost(status, said))
    return new GatewayError('UPSTREAM_UNREACHABLE', { server, status, reason, session: 'lost' });
  if (said && status < 500) return toServerError(said);
  // A server that answers in JSON-RPC was reached, so it failed itself.
  return new GatewayError(said ? 'UPSTREAM_FAILED' : 'UPSTREAM_UNREACHABLE', { server, status, reason });
}

function saidIn(body: unknown): Said | undefined {
  const error = isObject(body) && isObject(body.error) ? body.error : undefined;
  if (!error || !Number.isInteger(error.code) || typeof error.message !== 'string') return undefined;
  return { code: error.code as number, message: error.message, data: error.data };
}

function hinted(said: Said | undefined): number | undefined {
  return said && new ProtocolError(said.code, said.message, said.data).retryAfterMs;
}

/**
 * 404 means a lost session in every revision with sessions, unless the body says otherwise. Servers modelled on the official
 * SDK's example answer 400 to an unknown session.
 */
function isSessionLost(status: number, said: Said | undefined): boolean {
  if (status === 404) return said === undefined || OF_SESSIONS.includes(said.code);
  return status === 400 && said !== undefined && OF_SESSIONS.includes(said.code) && /session/i.test(said.message);
}
