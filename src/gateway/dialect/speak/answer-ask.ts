// Answers a request from a server: passes the question on and encodes the answer.
import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../protocol/message.ts';
import { isObject, toErrorMessage, toResult } from '../../../protocol/message.ts';
import type { ServerEvents } from '../../../protocol/server-view.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { toError } from '../../../shared/to-error.ts';
import { readAsk } from '../ask.ts';
import { plainError, toWire } from '../plain-error.ts';
import { writeProgress } from '../progress.ts';

/** `tell` sends the client's progress to the server, if the server asked for it. */
export async function answerAsk(
  request: RequestMessage,
  events: Pick<ServerEvents, 'onAsk' | 'onPing'>,
  signal: AbortSignal,
  tell?: (notification: NotificationMessage) => void,
): Promise<ResponseMessage> {
  if (request.method === 'ping' && !events.onPing) return toResult(request.id, {});
  try {
    const ask = readAsk(request.method, request.params);
    const token = tokenOf(request.params?._meta);
    if (tell && token !== undefined) ask.onProgress = (progress) => tell(writeProgress(token, progress));
    const answer = request.method === 'ping' ? events.onPing!(ask, signal) : events.onAsk(ask, signal);
    return toResult(request.id, await answer);
  } catch (thrown) {
    return toErrorMessage(request.id, refusal(thrown, request.method));
  }
}

function tokenOf(meta: unknown): string | number | undefined {
  const token = isObject(meta) ? meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** The specification's examples use -1 for a user who declined. */
function refusal(thrown: unknown, method: string) {
  const error = toError(thrown);
  if (!(error instanceof GatewayError)) return plainError(error);
  const { origin } = error.details;
  if (origin instanceof ProtocolError) return plainError(origin); // the client's own error
  if (error.code === 'NOT_APPROVED' || error.code === 'ASK_REFUSED') return toWire(-1, error.message);
  if (error.code === 'CLIENT_CANNOT_BE_ASKED')
    return toWire(-32601, `Method not found: the client cannot be asked (${method})`, `Not supported: ${method}`);
  return plainError(error);
}
