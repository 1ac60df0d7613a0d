// A link to a server behind one URL (Streamable HTTP): each message is a POST, and its response is one JSON text or an event
// stream. Invariants:
// 1. A request whose POST was accepted gets one answer: from the server, or an error made here (-32603) if its stream was lost
//    and could not be resumed. Aborted requests, and those open at `close`, get none.
// 2. The server's session id goes with every later request, until the server drops the session.
// 3. Nothing outlives `close`: no socket, no timer, no listener on a caller's signal.
import type { Abortable } from '../../../shared/cancellation.ts';
import { isRequest, type Message } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { Log } from '../../../shared/log.ts';
import { writeMessage } from '../../codec/json-rpc.ts';
import { Backoff } from '../connections/backoff.ts';
import { openEventStream } from '../http/event-stream.ts';
import { followStream } from '../http/follow-stream.ts';
import { readAnswer, type HttpAnswer, type ReconnectOptions } from '../http/http-answer.ts';
import { OVER_BUDGET, discardBody, mediaType, toRefusal } from '../http/http-body.ts';
import { HttpClient, type HttpClientOptions } from '../http/http-client.ts';
import type { UpstreamResponse } from '../http/http-exchange.ts';
import { Inbox, type LinkLimits } from './inbox.ts';
import type { Link, LinkEvents, SendOptions } from './link.ts';
import { OpenRequests, type OpenRequest } from './open-requests.ts';
import type { ResponseBody } from '../http/response-body.ts';

export interface HttpLinkOptions extends HttpClientOptions {
  limits?: LinkLimits | undefined;
  log?: Log | undefined;
  reconnect?: ReconnectOptions | undefined;
}

export function createHttpLink(options: HttpLinkOptions): Link {
  return new HttpLink(options);
}

const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
/** How long the server may take to end the session when we close. */
const DELETE_MS = 1000;

/** A message that is being sent. */
interface PostedMessage {
  message: Message;
  headers: Record<string, string>;
  /** The session in which it was sent. */
  session: string | undefined;
  request: OpenRequest;
}

class HttpLink implements Link {
  readonly kind = 'streamable-http';
  readonly perRequestStreams = true;
  readonly name: string;
  readonly #options: HttpLinkOptions;
  readonly #http: HttpClient;
  readonly #inbox: Inbox;
  readonly #open = new OpenRequests();
  #session: string | undefined;
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
    const posted: PostedMessage = { message, headers, session: this.#session, request: this.#open.enter(signal) };
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
    const request = this.#open.enter();
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

  #post(body: string, { headers: extra, request }: PostedMessage): Promise<UpstreamResponse> {
    const headers = Object.assign({}, this.#headers(extra), POSTED);
    return this.#http.request({ method: 'POST', body, signal: request.signal, headers });
  }

  #onResponse(response: UpstreamResponse, posted: PostedMessage): void | Promise<void> {
    if (response.statusCode >= 300) return this.#refused(response, posted);
    const given = response.headers['mcp-session-id'];
    if (typeof given === 'string' && given !== '') this.#session = given;
    const type = isSilent(response) ? undefined : mediaType(response);
    if (type !== undefined && isAnswerType(type)) this.#read(response, type, posted);
    else if (isRequest(posted.message)) throw this.#oddAnswer(response, type, posted);
    else void discardBody(response.body).then(() => posted.request.leave());
  }

  async #refused(response: UpstreamResponse, { session, request }: PostedMessage): Promise<never> {
    // The session is lost; a later initialize must not name it.
    if (response.statusCode === 404 && session === this.#session) this.#session = undefined;
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

  #read(response: UpstreamResponse, type: string, { message, request, headers }: PostedMessage): void {
    const answer: HttpAnswer = {
      response,
      isStream: type === 'text/event-stream',
      server: this.name,
      request,
      id: isRequest(message) ? message.id : undefined,
      inbox: this.#inbox,
      reconnect: this.#options.reconnect ?? {},
      resume: (lastEventId) => this.#get(lastEventId, headers, request.signal),
    };
    readAnswer(answer, () => request.leave());
  }

  async #listen(signal: Abortable): Promise<void> {
    const inbox = this.#inbox;
    const end = await followStream({
      open: (lastEventId) => this.#get(lastEventId, {}, signal),
      onEvent: ({ event = 'message', data }) => event === 'message' && inbox.take(data),
      onOversize: () => inbox.oversize(),
      onOverBudget: () => inbox.garbage(OVER_BUDGET),
      hold: (cut) => inbox.hold(this.name, cut),
      inbox,
      maxBytes: inbox.maxBytes,
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
    const headers = { ...this.#headers(extra), ...(id === '' ? {} : { 'last-event-id': id }) };
    return openEventStream(this.#http, { headers, signal });
  }

  #headers(extra: Record<string, string>): Record<string, string> {
    return this.#session === undefined ? extra : Object.assign({ 'mcp-session-id': this.#session }, extra);
  }

  async #close(): Promise<void> {
    this.#inbox.close('closed');
    this.#open.abortAll(this.#closedError());
    if (this.#session !== undefined) await this.#endSession();
    await this.#http.destroy();
  }

  async #endSession(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(DELETE_MS);
      const response = await this.#http.request({ method: 'DELETE', headers: this.#headers({}), signal });
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
