// Reads what a POST brings: one JSON text, or an event stream that is followed over its connections. Invariant: a
// request is answered once, by the server or, when its answer was lost for good, by an error of ours; unless its caller
// gave it up meanwhile. `isLostAnswer` tells the two apart, since no server can make the latter.
import { toErrorMessage, type Message, type RequestId } from '../../../protocol/message.ts';
import { Backoff, type BackoffOptions } from '../connections/backoff.ts';
import { followStream } from './follow-stream.ts';
import { readResponseBody, type BodyContent } from './http-body.ts';
import type { UpstreamResponse } from './http-exchange.ts';
import type { Inbox } from '../links/inbox.ts';
import type { OpenRequest } from '../links/open-requests.ts';
import type { ResponseBody } from './response-body.ts';

export interface ReconnectOptions extends BackoffOptions {
  /** Failures in a row until an answer is given up. */
  maxAttempts?: number | undefined;
}

export interface HttpAnswer {
  response: UpstreamResponse;
  isStream: boolean;
  /** Of the request; undefined where no answer is awaited. */
  id: RequestId | undefined;
  request: OpenRequest;
  inbox: Inbox;
  reconnect: ReconnectOptions;
  resume(lastEventId: string): Promise<ResponseBody>;
}

/** How long a stream may stay open after the answer: a server that forgets to end it would cost a socket per call. */
const LINGER_MS = 5000;
const INTERNAL_ERROR = -32603;
const lostAnswers = new WeakSet<object>();

/** Tells when all has come. */
export function readAnswer(answer: HttpAnswer, told: () => void): void {
  const end = (missing: string | undefined): void => {
    const { id, inbox, request } = answer;
    if (missing !== undefined && id !== undefined && !request.signal.aborted) {
      inbox.message(toLostAnswer(id, missing), id);
    }
    told();
  };
  if (answer.isStream) void readStream(answer).then(end);
  else readResponseBody(answer.response.body, answer.inbox.maxBytes, (body) => end(takeJson(answer, body)));
}

/** Made in place of an answer that did not come. */
export function toLostAnswer(id: RequestId, why: string): Message {
  const lost = toErrorMessage(id, { code: INTERNAL_ERROR, message: `The answer was lost: ${why}` });
  lostAnswers.add(lost);
  return lost;
}

/** Whether it was made here, in place of an answer that did not come. */
export function isLostAnswer(message: Message): boolean {
  return lostAnswers.has(message);
}

/** Says why there was no answer, as `readStream` does; undefined when there was one. */
function takeJson({ id, inbox }: HttpAnswer, body: BodyContent): string | undefined {
  if (body.kind === 'broken') return body.reason;
  if (body.kind === 'oversize') {
    inbox.oversize();
    return `it is larger than ${inbox.maxBytes} bytes`;
  }
  // Some servers answer a notification with 200 and nothing.
  const got = body.bytes.length === 0 ? [] : inbox.take(body.bytes, id);
  return got.some((message) => isAnswerTo(id, message)) ? undefined : 'the response holds none';
}

async function readStream({ response, id, inbox, request, ...answer }: HttpAnswer): Promise<string | undefined> {
  const { maxAttempts = 5, ...backoff } = answer.reconnect;
  let isAnswered = id === undefined;
  let isOversize = false;
  let linger: NodeJS.Timeout | undefined;
  const end = await followStream({
    first: response.body,
    open: (lastEventId) => answer.resume(lastEventId),
    onEvent: ({ event = 'message', data }) => {
      if (event !== 'message' || !inbox.take(data, id).some((message) => isAnswerTo(id, message))) return;
      isAnswered = true;
      linger ??= setTimeout(() => request.abort(), LINGER_MS).unref();
    },
    onOversize: () => {
      isOversize = true;
      inbox.oversize();
    },
    maxBytes: inbox.maxBytes,
    onRelease: (retryMs) => id !== undefined && inbox.released(id, retryMs),
    // What was too large would be too large again.
    isDone: () => isAnswered || isOversize,
    signal: request.signal,
    backoff: new Backoff(backoff),
    maxFailures: maxAttempts,
  });
  clearTimeout(linger);
  if (isAnswered) return undefined;
  return end.kind === 'lost' ? end.reason : `an event is larger than ${inbox.maxBytes} bytes`;
}

function isAnswerTo(id: RequestId | undefined, message: Message): boolean {
  return !('method' in message) && message.id === id;
}
