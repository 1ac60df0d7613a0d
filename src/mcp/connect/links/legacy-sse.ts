// A link to a server of the first HTTP transport: one event stream (GET) carries everything, and its first event names the URL
// for POSTs. Invariants:
// 1. That URL has the origin of the stream: a server must not direct our credentials and messages elsewhere.
// 2. The stream is the connection: the link ends with it. It is never resumed, because the server has forgotten the session.
import type { Message } from '../../../kernel/message.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { writeMessage } from '../../wire/json-rpc.ts';
import type { SseEvent } from '../../wire/sse.ts';
import { openEventStream, readEvents } from '../http/event-stream.ts';
import { discardBody } from '../http/http-body.ts';
import { toRefusal } from '../http/http-response.ts';
import { HttpClient } from '../http/http-client.ts';
import type { HttpClientOptions } from '../http/http-client.ts';
import { Inbox } from './inbox.ts';
import type { LinkLimits } from './inbox.ts';
import type { Link, LinkEvents, SendOptions } from './link.ts';

export interface SseLinkOptions extends HttpClientOptions {
  limits?: LinkLimits | undefined;
  /** How long the server may take to name its endpoint. */
  startMs?: number | undefined;
}

export function createSseLink(options: SseLinkOptions): Link {
  return new SseLink(options);
}

class SseLink implements Link {
  readonly kind = 'http+sse';
  readonly perRequestStreams = false;
  readonly name: string;
  readonly #startMs: number;
  readonly #http: HttpClient;
  readonly #inbox: Inbox;
  #endpoint: URL | undefined;

  constructor(options: SseLinkOptions) {
    this.#startMs = options.startMs ?? 10_000;
    this.#http = new HttpClient(options);
    this.#inbox = new Inbox(options.limits);
    this.name = this.#http.name;
  }

  async start(events: LinkEvents): Promise<void> {
    this.#inbox.open(events);
    const stream = this.#http.enter();
    const late = this.#unreachable(`no endpoint event within ${this.#startMs} ms`);
    const timer = setTimeout(() => stream.abort(late), this.#startMs);
    try {
      await this.#connect(stream.signal);
    } catch (error) {
      this.#inbox.abandon('it could not be started');
      await this.#release();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  setHeaders(headers: Record<string, string>): void {
    this.#http.setHeaders(headers);
  }

  async send(message: Message, { headers = {} }: SendOptions = {}): Promise<void> {
    const url = this.#endpoint;
    if (url === undefined || !this.#inbox.isOpen) throw this.#closedError();
    const all = { ...headers, 'content-type': 'application/json' };
    const request = this.#http.enter();
    try {
      const { signal } = request;
      const response = await this.#http.request({
        method: 'POST',
        url,
        headers: all,
        body: writeMessage(message),
        signal,
      });
      if (response.statusCode >= 300) throw await toRefusal(response);
      await discardBody(response.body);
    } finally {
      request.leave();
    }
  }

  async close(): Promise<void> {
    this.#inbox.close('closed');
    await this.#release();
  }

  /** Resolves when the endpoint is known; reading continues. */
  async #connect(signal: Abortable): Promise<void> {
    const body = await openEventStream(this.#http, { signal });
    const inbox = this.#inbox;
    await new Promise<void>((resolve, reject) => {
      const onEvent = ({ event = 'message', data }: SseEvent): void => {
        if (event === 'message') inbox.take(data);
        if (event !== 'endpoint' || this.#endpoint !== undefined) return;
        if (this.#takeEndpoint(String(data))) resolve();
        else reject(this.#foreignEndpoint());
      };
      void readEvents(body, { server: this.name, inbox, onEvent }).then(() => {
        reject(signal.aborted ? signal.reason : this.#unreachable('the stream ended before its endpoint event'));
        return this.#lost();
      });
    });
  }

  #takeEndpoint(data: string): boolean {
    const { href, origin } = this.#http.url;
    const url = URL.canParse(data, href) ? new URL(data, href) : undefined;
    if (url?.origin === origin) this.#endpoint = url;
    return this.#endpoint !== undefined;
  }

  async #lost(): Promise<void> {
    // Without an endpoint the link never started, and `start` rejects.
    if (this.#endpoint !== undefined) this.#inbox.close('the event stream ended');
    await this.#release();
  }

  async #release(): Promise<void> {
    this.#http.abortAll(this.#closedError());
    await this.#http.destroy();
  }

  #foreignEndpoint(): GatewayError {
    const reason = 'its endpoint is not a URL of the same origin';
    return new GatewayError('UPSTREAM_INVALID', { server: this.name, reason });
  }

  #unreachable(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_UNREACHABLE', { server: this.name, reason });
  }

  #closedError(): GatewayError {
    const reason = this.#inbox.closedBy ?? 'it has not started';
    return new GatewayError('UPSTREAM_CLOSED', { server: this.name, reason });
  }
}
