// Requests and answers over a link: ids, time-outs, calling off, and who is told of what the server says by itself.
import type { Message, NotificationMessage, RequestId, ResponseMessage } from '../../protocol/message.ts';
import { isNotification, isObject, isRequest, toNotification } from '../../protocol/message.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import type { Speaker, Wire, WireCall } from '../dialect/speaker.ts';
import { isLostAnswer } from './http-answer.ts';
import { HttpRefusal } from './link.ts';
import type { Link, LinkEvents } from './link.ts';
import { Pending, cancelled } from './pending.ts';
import type { Deadlines, PendingCall } from './pending.ts';

export interface LinkWireOptions extends Deadlines {
  clock: Clock;
  log: Log;
  onClose(reason: string): void;
}

export class LinkWire implements Wire, LinkEvents {
  readonly name: string;
  readonly http: boolean;
  /** Set once it is known which dialect the server speaks. */
  speaker: Speaker | undefined;
  readonly #link: Link;
  readonly #options: LinkWireOptions;
  readonly #pending: Pending;
  #nextId = 0;
  #closedBy: string | undefined;

  constructor(link: Link, options: LinkWireOptions) {
    this.#link = link;
    this.#options = options;
    this.name = link.name;
    this.http = link.kind === 'streamable-http';
    this.#pending = new Pending(options.clock, options, (pending, ms) => this.#timeOut(pending, ms));
  }

  start(): Promise<void> {
    return this.#link.start(this);
  }

  call(call: WireCall): Promise<unknown> {
    const { signal, method } = call;
    if (signal?.aborted) return Promise.reject(cancelled());
    if (this.#closedBy !== undefined) return Promise.reject(this.#closed());
    const id = ++this.#nextId;
    const params = call.withToken?.(id) ?? call.params;
    const stream = this.http ? new AbortController() : undefined;
    return new Promise<unknown>((resolve, reject) => {
      const onAbort = (): void => this.#callOff(id, 'The caller gave up', cancelled());
      const settled =
        <T>(by: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', onAbort);
          by(value);
        };
      this.#pending.add({
        id,
        call: { ...call, stream } as StreamedCall,
        resolve: settled(resolve),
        reject: settled(reject),
      });
      signal?.addEventListener('abort', onAbort);
      const message = { jsonrpc: '2.0' as const, id, method, ...(params !== undefined && { params }) };
      this.#link
        .send(message, { headers: call.headers, signal: stream?.signal })
        .catch((error: unknown) => this.#pending.take(id)?.reject(this.#toError(error)));
    });
  }

  async notify(notification: NotificationMessage, headers?: Record<string, string>): Promise<void> {
    await this.#send(notification, headers);
  }

  async respond(response: ResponseMessage): Promise<void> {
    await this.#send(response);
  }

  hold(): () => void {
    return this.#pending.hold();
  }

  onMessage(message: Message, from?: RequestId): void {
    if (isRequest(message)) this.speaker?.onRequest(message);
    else if (isNotification(message)) this.#onNotification(message, from);
    else this.#onResponse(message, from);
  }

  onClose(reason: string): void {
    this.#closedBy = reason;
    this.#pending.fail(() => this.#closed());
    this.#options.onClose(reason);
  }

  onGarbage(what: string): void {
    this.#options.log.warn({ server: this.name, what }, 'upstream.garbage');
  }

  #onNotification(notification: NotificationMessage, from: RequestId | undefined): void {
    const { method, params = {} } = notification;
    if (method === 'notifications/progress' || method === 'progress') {
      const known =
        method === 'progress'
          ? this.#draftProgress(params)
          : this.#pending.progress(params.progressToken, params as never);
      if (!known) this.#options.log.debug({ server: this.name }, 'progress.unexpected');
    } else if (from !== undefined && this.#pending.get(from)) this.#pending.tell(from, notification);
    else this.speaker?.onNotification(notification);
  }

  #draftProgress({ id, percent, message }: Record<string, unknown>): boolean {
    const total = { progress: Number(percent), total: 100 };
    return this.#pending.progress(id, typeof message === 'string' ? { ...total, message } : total);
  }

  #onResponse(response: ResponseMessage, from: RequestId | undefined): void {
    if (isLostAnswer(response) && response.id !== null) {
      const reason = 'error' in response ? response.error.message : 'the answer was lost';
      this.#pending.take(response.id)?.reject(this.#closed(reason));
      return;
    }
    const owned = response.id === null && from !== undefined ? { ...response, id: from } : response;
    if (!this.#pending.settle(owned)) {
      this.#options.log.debug({ server: this.name, id: response.id }, 'answer.unexpected');
    }
  }

  #timeOut(pending: PendingCall, ms: number): void {
    const { method } = pending.call;
    this.#tellCancelled(pending, `No answer within ${ms} ms`);
    pending.reject(new GatewayError('UPSTREAM_TIMEOUT', { server: this.name, method, ms }));
  }

  #callOff(id: RequestId, reason: string, error: Error): void {
    const pending = this.#pending.take(id);
    if (!pending) return;
    this.#tellCancelled(pending, reason);
    pending.reject(error);
  }

  /** `initialize` must not be called off. */
  #tellCancelled({ id, call }: PendingCall, reason: string): void {
    const { stream, cancelByStream, method, cancelNotice = mcpNotice } = call as StreamedCall;
    if (!(stream && cancelByStream) && method !== 'initialize') {
      void this.#send(cancelNotice(id, reason)).catch(() => {}); // a server that is gone needs no notice
    }
    stream?.abort();
  }

  async #send(message: NotificationMessage | ResponseMessage, headers?: Record<string, string>): Promise<void> {
    try {
      await this.#link.send(message, { headers });
    } catch (error) {
      throw this.#toError(error);
    }
  }

  #toError(error: unknown): Error {
    if (!(error instanceof HttpRefusal)) return error instanceof Error ? error : new Error(String(error));
    const { status, body } = error;
    if (status === 401 || status === 403)
      return new GatewayError('UPSTREAM_UNAUTHORIZED', { server: this.name, status });
    const wire = isObject(body) && isObject(body.error) ? body.error : undefined;
    if (wire && typeof wire.code === 'number' && status < 500 && status !== 404) {
      return new ProtocolError(wire.code, String(wire.message), wire.data);
    }
    if (wire && status === 404 && wire.code === -32601)
      return new ProtocolError(-32601, String(wire.message), wire.data);
    return new GatewayError('UPSTREAM_UNREACHABLE', { server: this.name, reason: `HTTP ${status}`, status });
  }

  #closed(reason = this.#closedBy): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', { server: this.name, reason: reason ?? 'closed' });
  }
}

interface StreamedCall extends WireCall {
  stream?: AbortController | undefined;
}

function mcpNotice(requestId: RequestId, reason: string): NotificationMessage {
  return toNotification('notifications/cancelled', { requestId, reason });
}
