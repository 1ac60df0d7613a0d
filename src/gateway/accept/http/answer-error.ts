// Answers HTTP requests that are refused or fail, and ends what may not go on.
import type { Duplex } from 'node:stream';
import type { Identity } from '../../../protocol/exchange.ts';
import type { RequestId } from '../../../protocol/message.ts';
import { toErrorMessage } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { HttpResponse } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import { writeMessage } from '../../codec/json-rpc.ts';
import { plainError } from '../../dialect/plain-error.ts';
import { answerJson, retryAfter } from './post-outlet.ts';

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
