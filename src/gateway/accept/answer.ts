// Short HTTP answers.
import type { ServerResponse } from 'node:http';
import type { RequestId } from '../../protocol/message.ts';
import { toErrorMessage } from '../../protocol/message.ts';
import type { GatewayError } from '../../shared/errors.ts';
import { writeMessage } from '../codec/json-rpc.ts';
import { plainError } from '../dialect/plain-error.ts';

export function answerJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
  response.end(text);
}

/** An HTTP refusal with a JSON-RPC error as body, for clients that show only one of the two. */
export function answerError(response: ServerResponse, error: GatewayError, id: RequestId | null = null): void {
  const headers = error.code === 'TOO_MANY' ? { 'retry-after': '1' } : undefined;
  answerJson(response, error.row.status, writeMessage(toErrorMessage(id, plainError(error))), headers);
}
