// Short HTTP answers.
import type { RequestId } from '../../../protocol/message.ts';
import { toErrorMessage } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { HttpResponse } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import { writeMessage } from '../../codec/json-rpc.ts';
import { byteLengthOf, writeEncoded } from '../../codec/encoded-message.ts';
import type { EncodedMessage } from '../../codec/encoded-message.ts';
import { plainError } from '../../dialect/plain-error.ts';

export function answerJson(
  response: HttpResponse,
  status: number,
  written: EncodedMessage,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const length = byteLengthOf(written);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
  // Head and text leave as one piece. `end` adds an empty one, and several are copied together by Node to be written.
  response.cork();
  writeEncoded(response, written);
  response.uncork();
  response.end();
}

/** Answers for something thrown: what is not ours to tell is logged and told as an internal error. */
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

/** An HTTP refusal with a JSON-RPC error as body, for clients that show only one of the two. */
export function answerError(response: HttpResponse, error: GatewayError, id: RequestId | null = null): void {
  const headers = error.code === 'TOO_MANY' ? { 'retry-after': '1' } : undefined;
  answerJson(response, error.row.status, writeMessage(toErrorMessage(id, plainError(error))), headers);
}
