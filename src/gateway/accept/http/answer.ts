// Encodes answers to messages, and writes short HTTP answers: JSON bodies, errors, and refused upgrades.
import type { Duplex } from 'node:stream';
import type { Identity } from '../../../protocol/exchange.ts';
import type { Message, RequestId } from '../../../protocol/message.ts';
import { toErrorMessage } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { HttpResponse } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import { writeMessage, byteLengthOf, encode, writeEncoded } from '../../codec/json-rpc.ts';
import type { EncodedMessage } from '../../codec/json-rpc.ts';
import { plainError } from '../../dialect/plain-error.ts';
import { insteadOfUnwritable } from '../unwritable-answer.ts';

export function encodeAnswer(answer: Message | Message[], log: Log): EncodedMessage {
  try {
    return encode(answer);
  } catch (cause) {
    return encode(insteadOfUnwritable(answer, cause, log));
  }
}

export function answerJson(
  response: HttpResponse,
  status: number,
  written: EncodedMessage,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const length = byteLengthOf(written);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
  // Corked, so that headers and body leave in one write. `end` adds an empty chunk, and Node copies several chunks
  // together.
  response.cork();
  writeEncoded(response, written);
  response.uncork();
  response.end();
}

/** Answers a thrown error. One that is not a GatewayError is logged and reported as internal. */
export function answerThrown(
  { log }: { log: Log },
  response: HttpResponse,
  thrown: unknown,
  id?: RequestId | null,
): void {
  const error = thrown instanceof GatewayError ? thrown : new GatewayError('INTERNAL', {}, { cause: thrown });
  if (error.code === 'INTERNAL') log.error({ cause: error.cause }, 'http.failed');
  answerError(response, error, id);
}

/** An HTTP error whose body is a JSON-RPC error, for clients that show only one of the two. */
export function answerError(response: HttpResponse, error: GatewayError, id: RequestId | null = null): void {
  const headers = headersOf(error);
  answerJson(response, error.row.status, writeMessage(toErrorMessage(id, plainError(error))), headers);
}

/** In whole seconds, at least one. */
export function retryAfter(ms: unknown): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil((typeof ms === 'number' ? ms : 0) / 1000))) };
}

function headersOf({ code, row, details }: GatewayError): Record<string, string> | undefined {
  const { challenge, nonce, retryAfterMs } = details;
  if (row.status === 429) return retryAfter(retryAfterMs);
  if (code === 'UNAUTHORIZED' || code === 'INSUFFICIENT_SCOPE') {
    return {
      'www-authenticate': typeof challenge === 'string' ? challenge : 'Bearer',
      ...(typeof nonce === 'string' && { 'dpop-nonce': nonce }),
    };
  }
  return undefined;
}

/** Ends a stream when the key or token that opened it is no longer valid. */
export function endWhenInvalid(identity: Identity | undefined, response: HttpResponse): void {
  const forget = identity?.validity?.watch(() => response.end());
  if (forget) response.on('close', forget);
}

/** Destroys the socket, because a client that never closes its end must not keep it open. */
export function refuseUpgrade(socket: Duplex, status: string, headers = ''): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${headers}Content-Length: 0\r\n\r\n`);
}

/** Refuses an upgrade for the reason of this error. */
export function refuseUpgradeFor(socket: Duplex, error: GatewayError): void {
  if (error.code !== 'UNAUTHORIZED' && error.code !== 'INSUFFICIENT_SCOPE')
    return refuseUpgrade(socket, '403 Forbidden');
  const status = error.code === 'UNAUTHORIZED' ? '401 Unauthorized' : '403 Forbidden';
  const lines = Object.entries(headersOf(error)!).map(([name, value]) => `${name}: ${value}\r\n`);
  refuseUpgrade(socket, status, lines.join(''));
}
