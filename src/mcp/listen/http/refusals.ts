// Refuses HTTP requests and upgrades: answers with the error, records callers who were turned away, and ends the streams of those whose login is no
// longer valid.
import type { Duplex } from 'node:stream';
import type { Validity } from '../../../kernel/exchange.ts';
import { toErrorMessage } from '../../../kernel/message.ts';
import type { RequestId } from '../../../kernel/message.ts';
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import { callSafely, readSafely } from '../../../kernel/base/author-callback.ts';
import { GatewayError, toReadable } from '../../../kernel/base/errors.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import type { HttpHandler, HttpResponse, HttpRequest } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { writeMessage } from '../../wire/json-rpc.ts';
import { plainError } from '../../eras/plain-error.ts';
import { answerJson, retryAfter } from './http-post.ts';

interface RefusalContext {
  hub?: EventHub | undefined;
  log: Log;
}

type RefusedRequest = Pick<HttpRequest, 'url' | 'method' | 'socket' | 'headers' | 'clientAddress'>;

/** Answers what was thrown, and records it if it was no login, too little allowed, or a foreign Host or Origin. */
export function refuseRequest(
  context: RefusalContext,
  { request, response }: { request: RefusedRequest; response: HttpResponse },
  thrown: unknown,
  id?: RequestId | null,
): void {
  const readable = toReadable(thrown);
  recordRefusal(context.hub, readable, request);
  answerThrown(context, response, readable, id);
}

/** Notes where the request came from and what it wanted, but nothing that the caller sent as a proof. */
function recordRefusal(hub: EventHub | undefined, thrown: unknown, request: RefusedRequest): void {
  if (!hub?.hasListeners || !(thrown instanceof GatewayError)) return;
  const { code, row, details } = thrown;
  if (row.status !== 401 && row.status !== 403) return;
  const { reason, scope } = details;
  const from = addressOf(request);
  hub.tell({
    kind: 'refusal',
    method: request.method,
    name: (request.url ?? '').split('?', 1)[0],
    outcome: code,
    details: {
      status: row.status,
      ...(typeof reason === 'string' && { reason }),
      ...(typeof scope === 'string' && { scope }),
      ...(from !== undefined && { from }),
      ...(request.headers.origin !== undefined && { origin: request.headers.origin }),
    },
  });
}

/** Answers a thrown error. One that is not a GatewayError is logged and reported as internal. */
export function answerThrown(
  { log }: { log: Log },
  response: HttpResponse,
  thrown: unknown,
  id?: RequestId | null,
): void {
  const cause = toReadable(thrown);
  const error = cause instanceof GatewayError ? cause : new GatewayError('INTERNAL', {}, { cause });
  if (error.code === 'INTERNAL') log.error({ cause: error.cause }, 'http.failed');
  answerError(response, error, id);
}

/** Runs a page, which may be a function of the embedding program. What it throws, at once or later, is the answer; one that has begun is cut. */
export function runPage(
  context: { log: Log },
  page: HttpHandler,
  { request, response }: { request: HttpRequest; response: HttpResponse },
): void {
  callSafely(
    () => page(request, response),
    (thrown) => {
      answerThrown(context, response, thrown);
      if (!response.writableEnded) response.destroy();
    },
  );
}

/** Faults of gateways that serve as one after which nothing was begun: proxies and clients may try again by themselves. */
const UNBEGUN = new Set(['NODE_AWAY', 'STATE_FAILED']);

/** An HTTP error whose body is a JSON-RPC error, for clients that show only one of the two. */
export function answerError(response: HttpResponse, error: GatewayError, id: RequestId | null = null): void {
  const { status } = error.row;
  const isPaced = status === 429 || UNBEGUN.has(error.code);
  const headers = isPaced ? retryAfter(error.details.retryAfterMs) : challengeOf(error);
  answerJson(response, status, writeMessage(toErrorMessage(id, plainError(error))), headers);
}

/** What a client needs to log in, or to log in for more. */
function challengeOf({ code, details: { challenge, nonce } }: GatewayError): Record<string, string> | undefined {
  if (code !== 'UNAUTHORIZED' && code !== 'INSUFFICIENT_SCOPE') return undefined;
  return {
    'www-authenticate': typeof challenge === 'string' ? challenge : 'Bearer',
    ...(typeof nonce === 'string' && { 'dpop-nonce': nonce }),
  };
}

/** Refuses an upgrade because of what was thrown. */
export function refuseUpgradeFor(
  { hub, log }: RefusalContext,
  { request, socket }: { request: RefusedRequest; socket: Duplex },
  error: unknown,
): void {
  const thrown = toReadable(error);
  recordRefusal(hub, thrown, request);
  if (!(thrown instanceof GatewayError)) {
    log.error({ cause: thrown }, 'upgrade.failed');
    return refuseUpgrade(socket, '500 Internal Server Error');
  }
  const lines = Object.entries(challengeOf(thrown) ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  refuseUpgrade(socket, thrown.code === 'UNAUTHORIZED' ? '401 Unauthorized' : '403 Forbidden', lines.join(''));
}

/** Destroys the socket, because a client that never closes its end must not keep it open. */
export function refuseUpgrade(socket: Duplex, status: string, headers = ''): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${headers}Content-Length: 0\r\n\r\n`);
}

/** Ends a stream when the key or token that opened it is no longer valid. */
export function endWhenInvalid(context: { log: Log }, validity: Validity | undefined, response: HttpResponse): void {
  const forget = watchValidity(context, validity, () => response.end());
  if (forget) response.on('close', forget);
}

/** A proof whose end nobody can tell has ended: `validity` may be an object of the embedding program. */
export function watchValidity(
  { log }: { log: Log },
  validity: Validity | undefined,
  end: () => void,
): (() => void) | undefined {
  if (!validity) return undefined;
  const fail = (thrown: unknown): void =>
    log.error({ callback: 'validity.watch', error: toReadable(thrown) }, 'callback.failed');
  const forget = readSafely<unknown>(() => validity.watch(end), undefined, fail);
  if (typeof forget === 'function') return () => callSafely(() => (forget as () => unknown)(), fail);
  end();
  return undefined;
}
