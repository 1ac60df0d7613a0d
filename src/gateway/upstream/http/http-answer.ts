// Reads the response to a POST: one JSON text, or an event stream that may span several connections. Invariant: a request gets
// one answer, from the server or, if that is lost for good, an error made here, unless its caller has given up. No server can
// make a message for which `isLostAnswer` is true.
import { toErrorMessage, type Message, type RequestId } from '../../../protocol/message.ts';
import { Backoff, type BackoffOptions } from '../connections/backoff.ts';
import { followStream } from './follow-stream.ts';
import { OVER_BUDGET, readResponseBody, type BodyContent } from './http-body.ts';
import type { UpstreamResponse } from './http-exchange.ts';
import type { Inbox } from '../links/inbox.ts';
import type { OpenRequest } from '../links/open-requests.ts';
import type { ResponseBody } from './response-body.ts';

export interface ReconnectOptions extends BackoffOptions {
  /** Failures in a row before an answer is given up. */
  maxAttempts?: number | undefined;
}

export interface HttpAnswer {
  response: UpstreamResponse;
  isStream: boolean;
  /** The name of the link. */
  server: string;
  /** The id of the request; undefined if no answer is expected. */
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

/** Calls back when the whole response has been read. */
export function readAnswer(answer: HttpAnswer, told: () => void): void {
  const end = (missing: string | undefined): void => {
    const { id, inbox, request } = answer;
    if (missing !== undefined && id !== undefined && !request.signal.aborted) {
      inbox.message(toLostAnswer(id, missing), id);
    }
    told();
  };
  if (answer.isStream) void readStream(answer).then(end);
  else readJson(answer, end);
}

function readJson(answer: HttpAnswer, end: (missing: string | undefined) => void): void {
  const { response, inbox, server } = answer;
  const told = (body: BodyContent): void => end(takeJson(answer, body));
  readResponseBody(response.body, inbox.maxBytes, told, (cut) => inbox.hold(server, cut));
}

/** An error in place of an answer that did not arrive. */
export function toLostAnswer(id: RequestId, why: string): Message {
  const lost = toErrorMessage(id, { code: INTERNAL_ERROR, message: `The answer was lost: ${why}` });
  lostAnswers.add(lost);
  return lost;
}

/** Whether `toLostAnswer` made this message. */
export function isLostAnswer(message: Message): boolean {
  return lostAnswers.has(message);
}

/** Returns why there is no answer; undefined if there is one. So does `readStream`. */
function takeJson({ id, inbox }: HttpAnswer, body: BodyContent): string | undefined {
  if (body.kind === 'broken') return body.reason;
  if (body.kind === 'oversize') {
    inbox.oversize();
    return `it is larger than ${inbox.maxBytes} bytes`;
  }
  // Some servers answer a notification with 200 and an empty body.
  const got = body.bytes.length === 0 ? [] : inbox.take(body.bytes, id);
  return got.some((message) => isAnswerTo(id, message)) ? undefined : 'the response contains no answer';
}

async function readStream({ response, id, inbox, request, ...answer }: HttpAnswer): Promise<string | undefined> {
  const { maxAttempts = 5, ...backoff } = answer.reconnect;
  let isAnswered = id === undefined;
  let missing: string | undefined;
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
      missing = `an event is larger than ${inbox.maxBytes} bytes`;
      inbox.oversize();
    },
    onOverBudget: () => (missing = OVER_BUDGET),
    hold: (cut) => inbox.hold(answer.server, cut),
    inbox,
    maxBytes: inbox.maxBytes,
    onRelease: (retryMs) => id !== undefined && inbox.released(id, retryMs),
    // An oversize event would be as large again.
    isDone: () => isAnswered || missing !== undefined,
    signal: request.signal,
    backoff: new Backoff(backoff),
    maxFailures: maxAttempts,
  });
  clearTimeout(linger);
  if (isAnswered) return undefined;
  return end.kind === 'lost' ? end.reason : missing;
}

function isAnswerTo(id: RequestId | undefined, message: Message): boolean {
  return !('method' in message) && message.id === id;
}
