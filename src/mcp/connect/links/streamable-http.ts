// A link to a server behind one URL (Streamable HTTP): each message is a POST, and its response is one JSON text or an event
// stream. Invariants:
// 1. A request whose POST was accepted gets one answer: from the server, or an error made here (-32603) if its stream was lost
//    and could not be resumed. Aborted requests, and those open at `close`, get none.
// 2. The server's session id goes with every later request but one that opens a new session, also when the server has dropped it: a request that names
//    no session would be refused for another reason than the true one. A late answer to a request of an earlier session does not bring it back.
// 3. Nothing outlives `close`: no socket, no timer, no listener on a caller's signal.
import { isRequest } from '../../../kernel/message.ts';
import type { Message, RequestId, RequestMessage } from '../../../kernel/message.ts';
import { INITIALIZE } from '../../../kernel/methods.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { writeMessage } from '../../wire/json-rpc.ts';
import { Backoff } from '../backoff.ts';
import type { BackoffOptions } from '../backoff.ts';
import { followStream, openEventStream } from '../http/event-stream.ts';
import { discardBody, readResponseBody } from '../http/http-body.ts';
import { mediaType, toRefusal } from '../http/http-response.ts';
import type { BodyContent, ResponseBody } from '../http/http-body.ts';
import { HttpClient } from '../http/http-client.ts';
import type { HttpClientOptions, OpenRequest } from '../http/http-client.ts';
import type { UpstreamResponse } from '../http/http-response.ts';
import { Inbox } from './inbox.ts';
import type { LinkLimits } from './inbox.ts';
import { toLostAnswer } from './link.ts';
import type { Link, LinkEvents, SendOptions } from './link.ts';

export interface HttpLinkOptions extends HttpClientOptions {
  limits?: LinkLimits | undefined;
  log?: Log | undefined;
  /** `maxAttempts`: failures in a row before an answer is given up. */
  reconnect?: (BackoffOptions & { maxAttempts?: number | undefined }) | undefined;
}

export function createHttpLink(options: HttpLinkOptions): Link {
  return new HttpLink(options);
}

const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
/** How long the server may take to end the session when we close. */
const DELETE_MS = 1000;
/** How long a stream may stay open after the answer: a server that forgets to end it would cost a socket per call. */
const LINGER_MS = 5000;

/** A message that is being sent. */
interface PostedMessage {
  /** Undefined if no answer is expected. */
  id: RequestId | undefined;
  headers: Record<string, string>;
  /** The session in which it was sent. */
  session: string | undefined;
  opensSession: boolean;
  request: OpenRequest;
}

class HttpLink implements Link {
  readonly kind = 'streamable-http';
  readonly perRequestStreams = true;
  readonly name: string;
  readonly #options: HttpLinkOptions;
  readonly #http: HttpClient;
  readonly #inbox: Inbox;
  #session: string | undefined;
  /** The session that the server no longer knows. */
  #lost: string | undefined;
  #isListening = false;
  #closed: Promise<void> | undefined;

  constructor(options: HttpLinkOptions) {
    this.#options = options;
    this.#http = new HttpClient(options);
    this.#inbox = new Inbox(options.limits);
    this.name = this.#http.name;
  }

  async start(events: LinkEvents): Promise<void> {
    this.#inbox.open(events);
  }

  setHeaders(headers: Record<string, string>): void {
    this.#http.setHeaders(headers);
  }

  /** Resolves with the head of the response; reading continues. */
  send(message: Message, { headers = {}, signal }: SendOptions = {}): Promise<void> {
    let body: string;
    try {
      if (!this.#inbox.isOpen) throw this.#closedError();
      body = writeMessage(message);
    } catch (error) {
      return Promise.reject(error);
    }
    const id = isRequest(message) ? message.id : undefined;
    const opensSession = id !== undefined && (message as RequestMessage).method === INITIALIZE;
    const session = opensSession ? undefined : this.#session;
    const posted: PostedMessage = { id, headers, session, opensSession, request: this.#http.enter(signal) };
    return this.#post(body, posted).then(
      (response) => this.#onResponse(response, posted),
      (thrown) => {
        posted.request.leave();
        throw thrown;
      },
    );
  }

  listen(): void {
    if (this.#isListening || !this.#inbox.isOpen) return;
    this.#isListening = true;
    const request = this.#http.enter();
    void this.#listen(request.signal).finally(() => {
      request.leave();
      this.#isListening = false;
    });
  }

  forgetSession(): void {
    this.#session = undefined;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #post(body: string, { headers: extra, session, request }: PostedMessage): Promise<UpstreamResponse> {
    const headers = Object.assign({}, inSession(session, extra), POSTED);
    return this.#http.request({ method: 'POST', body, signal: request.signal, headers });
  }

  #onResponse(response: UpstreamResponse, posted: PostedMessage): void | Promise<void> {
    if (response.statusCode >= 300) return this.#refused(response, posted);
    const given = response.headers['mcp-session-id'];
    const isNew = typeof given === 'string' && given !== '' && given !== posted.session;
    if (isNew && (posted.opensSession || posted.session === this.#session)) this.#session = given;
    const type = isSilent(response) ? undefined : mediaType(response);
    if (type !== undefined && isAnswerType(type)) this.#read(response.body, type, posted);
    else if (posted.id !== undefined) throw this.#oddAnswer(response, type, posted);
    else void discardBody(response.body).then(() => posted.request.leave());
  }

  async #refused(response: UpstreamResponse, { session, request }: PostedMessage): Promise<never> {
    if (response.statusCode === 404) this.#lost = session;
    const refusal = await toRefusal(response);
    request.leave();
    throw refusal;
  }

  /** A login page, for example, or an empty body: not an answer, whatever the status. */
  #oddAnswer(
    { body, statusCode }: UpstreamResponse,
    type: string | undefined,
    { request }: PostedMessage,
  ): GatewayError {
    body.destroy();
    request.leave();
    const reason =
      type === undefined
        ? `a request was answered with HTTP ${statusCode} and nothing else`
        : `it answered with ${type}`;
    return new GatewayError('UPSTREAM_INVALID', { server: this.name, reason });
  }

  #read(body: ResponseBody, type: string, posted: PostedMessage): void {
    if (type === 'text/event-stream') return void this.#readStream(body, posted).then((why) => this.#end(posted, why));
    const onBody = (content: BodyContent): void => this.#end(posted, this.#takeJson(content, posted));
    readResponseBody(body, this.#inbox.maxBytes, onBody, (cut) => this.#inbox.hold(this.name, cut));
  }

  /** The whole response has been read. `missing`: why there is no answer. */
  #end({ id, request }: PostedMessage, missing: string | undefined): void {
    const isLost = missing !== undefined && id !== undefined && !request.signal.aborted;
    if (isLost) this.#inbox.message(toLostAnswer(id, missing), id);
    request.leave();
  }

  /** Returns why there is no answer; undefined if there is one. So does `#readStream`. */
  #takeJson(body: BodyContent, { id }: PostedMessage): string | undefined {
    const inbox = this.#inbox;
    if (body.kind === 'broken') return body.reason;
    if (body.kind === 'oversize') {
      inbox.oversize();
      return `it is larger than ${inbox.maxBytes} bytes`;
    }
    // Some servers answer a notification with 200 and an empty body.
    const got = body.bytes.length === 0 ? [] : inbox.take(body.bytes, id);
    return got.some((message) => isAnswerTo(id, message)) ? undefined : 'the response contains no answer';
  }

  async #readStream(first: ResponseBody, { id, headers, request }: PostedMessage): Promise<string | undefined> {
    const inbox = this.#inbox;
    const { maxAttempts: maxFailures = 5, ...backoff } = this.#options.reconnect ?? {};
    let isAnswered = id === undefined;
    let missing: string | undefined;
    let linger: NodeJS.Timeout | undefined;
    const end = await followStream({
      first,
      open: (lastEventId) => this.#get(lastEventId, headers, request.signal),
      server: this.name,
      inbox,
      onEvent: ({ event = 'message', data }) => {
        if (event !== 'message' || !inbox.take(data, id).some((message) => isAnswerTo(id, message))) return;
        isAnswered = true;
        linger ??= setTimeout(() => request.abort(), LINGER_MS).unref();
      },
      onMissed: (why) => (missing = why),
      onRelease: (retryMs) => id !== undefined && inbox.released(id, retryMs),
      // A skipped event would be as large again.
      isDone: () => isAnswered || missing !== undefined,
      signal: request.signal,
      backoff: new Backoff(backoff),
      maxFailures,
    });
    clearTimeout(linger);
    if (isAnswered) return undefined;
    return end.kind === 'lost' ? end.reason : missing;
  }

  async #listen(signal: Abortable): Promise<void> {
    const inbox = this.#inbox;
    const end = await followStream({
      open: (lastEventId) => this.#get(lastEventId, {}, signal),
      onEvent: ({ event = 'message', data }) => event === 'message' && inbox.take(data),
      server: this.name,
      inbox,
      isDone: () => false,
      signal,
      backoff: new Backoff(this.#options.reconnect),
      maxFailures: Infinity,
    });
    // Many servers have no such stream, which is fine.
    this.#options.log?.debug({ link: this.name, ...end }, 'upstream.listen.ended');
  }

  #get(lastEventId: string, extra: Record<string, string>, signal: Abortable): Promise<ResponseBody> {
    // Header values are bytes: the id is sent back in the same UTF-8.
    const id = Buffer.from(lastEventId).toString('latin1');
    const headers = { ...inSession(this.#session, extra), ...(id === '' ? {} : { 'last-event-id': id }) };
    return openEventStream(this.#http, { headers, signal });
  }

  async #close(): Promise<void> {
    this.#inbox.close('closed');
    this.#http.abortAll(this.#closedError());
    if (this.#session !== undefined && this.#session !== this.#lost) await this.#endSession();
    await this.#http.destroy();
  }

  async #endSession(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(DELETE_MS);
      const response = await this.#http.request({ method: 'DELETE', headers: inSession(this.#session, {}), signal });
      await discardBody(response.body);
    } catch (error) {
      this.#options.log?.debug({ link: this.name, error }, 'upstream.session.not-ended');
    }
  }

  #closedError(): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', {
      server: this.name,
      reason: this.#inbox.closedBy ?? 'it has not started',
    });
  }
}

/** Accepted without a body. */
function isSilent({ statusCode }: UpstreamResponse): boolean {
  return statusCode === 202 || statusCode === 204;
}

/** A response without a type is assumed to be JSON. */
function isAnswerType(type: string): boolean {
  return type === '' || type === 'text/event-stream' || type.endsWith('json');
}

function isAnswerTo(id: RequestId | undefined, message: Message): boolean {
  return !('method' in message) && message.id === id;
}

function inSession(session: string | undefined, headers: Record<string, string>): Record<string, string> {
  return session === undefined ? headers : Object.assign({ 'mcp-session-id': session }, headers);
}
