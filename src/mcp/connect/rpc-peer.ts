// JSON-RPC over a link: ids, timeouts, cancellation, and the dispatch of the server's own requests and notifications. An error
// thrown by a caller's callback never reaches the link, where it would affect other callers.
import { isObject, isRequest, toErrorMessage, toResult } from '../../kernel/message.ts';
import type {
  JsonObject,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from '../../kernel/message.ts';
import { EncodedParams } from '../../kernel/raw/encoded-params.ts';
import type { OutgoingParams } from '../../kernel/raw/encoded-params.ts';
import type { OutgoingCall } from '../../kernel/server-view.ts';
import { INITIALIZE, PING_PEER, REQUEST_PROGRESS } from '../../kernel/methods.ts';
import { Cancellation, CancelledByPeer } from '../../kernel/base/cancellation.ts';
import { cancelledBy } from '../../kernel/base/cancelled-error.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError, toReadable } from '../../kernel/base/errors.ts';
import { LOGGED_GARBAGE } from '../../kernel/base/limits.ts';
import { RateLimiter, readRate } from '../../kernel/base/rate.ts';
import type { Log } from '../../kernel/base/log.ts';
import { arrivedVia, viaFrom } from '../../kernel/base/via.ts';
import { OutgoingRequest } from '../wire/json-rpc.ts';
import { META } from '../eras/meta.ts';
import { readProgress } from '../eras/notifications.ts';
import type { ServerDialect, ServerProgress, Wire } from '../eras/speak/server-dialect.ts';
import { toWireRequest } from '../eras/speak/wire-request.ts';
import type { WireForm, WireRequest } from '../eras/speak/wire-request.ts';
import { HttpRefusal, fromRefusal } from './http/http-refusal.ts';
import { isLostAnswer } from './links/link.ts';
import type { Link, LinkEvents } from './links/link.ts';
import { isLoginError } from './accounts/server-login.ts';
import { PendingCalls } from './pending-calls.ts';
import type { Deadlines } from './pending-calls.ts';

interface RpcPeerOptions extends Deadlines {
  clock: Clock;
  log: Log;
  /** The id of the gateway on our side (kernel/base/via.ts). */
  id?: string | undefined;
  onClose(reason: string): void;
  /** Called when a call has timed out and the server has sent nothing since. Not on HTTP, where each call has its own stream. */
  onSilence?(): void;
}

/** Limits the messages that a server sends before its dialect is known. */
const MAX_EARLY = 100;
/** Limits the abandoned calls that may still be answered: a server that never answers them must not fill the memory. */
const MAX_LATE = 1000;

export class RpcPeer implements Wire, LinkEvents {
  readonly name: string;
  readonly http: boolean;
  readonly log: Log;
  closedBy: string | undefined;
  readonly #link: Link;
  readonly #options: RpcPeerOptions;
  readonly #pending: PendingCalls;
  #speaker: ServerDialect | undefined;
  #early: (RequestMessage | NotificationMessage)[] = [];
  readonly #late = new Map<RequestId, Pick<WireRequest, 'tracker' | 'onLate'>>();
  #isMute = false;
  #skipped = '';
  #garbage: { pace: RateLimiter; unlogged: number } | undefined;
  #nextId = 0;
  #heard = 0;
  #sending: { sent: Promise<void> | undefined; ids: RequestId[] } = { sent: undefined, ids: [] };

  constructor(link: Link, options: RpcPeerOptions) {
    this.#link = link;
    this.#options = options;
    this.name = link.name;
    this.http = link.perRequestStreams;
    this.log = options.log;
    this.#pending = new PendingCalls(options.clock, options, {
      onTimeout: (pending, ms) => this.#timeOut(pending, ms),
      onAbort: (pending) => this.#callOff(pending),
    });
  }

  /** The number of messages received. */
  get heard(): number {
    return this.#heard;
  }

  async start(): Promise<void> {
    try {
      await this.#link.start(this);
    } catch (error) {
      throw this.#toError(error);
    }
  }

  /** Called when the server's dialect is known; delivers the messages that came before. */
  adopt(speaker: ServerDialect): void {
    this.#speaker = speaker;
    for (const message of this.#early.splice(0)) this.onMessage(message);
  }

  call(call: OutgoingCall, form?: WireForm): Promise<unknown> {
    return this.send(toWireRequest(call, form));
  }

  send(request: WireRequest): Promise<unknown> {
    if (request.signal?.aborted) return Promise.reject(cancelledBy(request.signal));
    if (this.closedBy !== undefined) return Promise.reject(this.#closed());
    const id = (request.id = ++this.#nextId);
    const params = this.#withVia(request.toParams(id));
    request.stream = this.http ? new Cancellation() : undefined;
    request.heardBefore = this.#heard;
    const answer = new Promise<unknown>((resolve, reject) => {
      request.resolve = resolve;
      request.reject = reject;
    });
    this.#pending.add(request);
    request.tracker = request.call.track?.();
    request.tracker?.onSent(request);
    const { method, headers, stream } = request;
    const message = params ? new OutgoingRequest(id, method, params) : { jsonrpc: '2.0' as const, id, method };
    const others = this.#pending.size > 1;
    this.#follow(this.#link.send(message, { headers, signal: stream, others }), id);
    return answer;
  }

  /**
   * Adds the ids of the gateways that a request has passed. The server got our own id at the opening; a request that has passed
   * other gateways names them too, on HTTP in a header, elsewhere in `_meta`. A server that is itself a gateway always gets them
   * in `_meta`.
   */
  #withVia(params: OutgoingParams | undefined): OutgoingParams | undefined {
    const { id } = this.#options;
    if (id === undefined) return params;
    const isTold = this.#speaker?.server.isGateway ?? (!this.http && arrivedVia().length > 0);
    if (!isTold) return params;
    const plain = params instanceof EncodedParams ? params.toJSON() : params;
    const meta = isObject(plain?._meta) ? plain._meta : {};
    return { ...plain, _meta: { ...meta, [META.via]: viaFrom(id) } };
  }

  /** Rejects calls that could not be sent. Calls that are written together share one promise and one handler. */
  #follow(sent: Promise<void>, id: RequestId): void {
    if (sent === this.#sending.sent) return void this.#sending.ids.push(id);
    const ids = [id];
    this.#sending = { sent, ids };
    sent.catch((error: unknown) => ids.forEach((one) => this.#unsent(one, error)));
  }

  /** An HTTP status is an answer of the server. After any other failure the server may still have received the call. */
  #unsent(id: RequestId, thrown: unknown): void {
    const error = toReadable(thrown);
    const pending = this.#pending.take(id);
    if (!pending) return;
    if (error instanceof HttpRefusal || isLoginError(error)) pending.tracker?.onRefused();
    else this.#abandon(pending);
    pending.reject(this.#toError(error));
  }

  async notify(notification: NotificationMessage, headers?: Record<string, string>): Promise<void> {
    await this.#send(notification, headers);
  }

  async respond(response: ResponseMessage): Promise<void> {
    await this.#send(response);
  }

  sole(): OutgoingCall | undefined {
    return this.#pending.sole()?.call;
  }

  pauseTimeouts(call?: object): () => void {
    return this.#pending.pauseTimeouts(call);
  }

  /** Refuses all further requests of the server and drops its notifications; the connection is no longer used. */
  mute(): void {
    this.#isMute = true;
  }

  onMessage(message: Message, from?: RequestId, sent?: string): boolean {
    this.#heard++;
    try {
      if (!('method' in message)) return this.#onResponse(message, from, sent);
      if (this.#isMute) this.#refuse(message);
      else if (isRequest(message)) this.#onRequest(message, from);
      else this.#onNotification(message, from);
    } catch (error) {
      this.log.error({ link: this.name, error }, 'callback.failed');
    }
    return false;
  }

  onClose(reason: string): void {
    if (this.closedBy !== undefined) return; // it was abandoned before it ended
    this.closedBy = reason;
    this.#late.clear();
    this.#pending.fail(() => this.#closed());
    this.#speaker?.onClose?.();
    this.#options.onClose(reason);
  }

  onRelease(from: RequestId, retryMs: number): void {
    this.#pending.get(from)?.call.onRelease?.(retryMs);
  }

  onGarbage(what: string, kind?: 'oversize', answerTo?: RequestId): void {
    this.#logGarbage(what);
    if (kind !== 'oversize') return;
    const answered = answerTo === undefined ? undefined : this.#pending.take(answerTo);
    if (answered) return this.#rejectAnswered(answered, what);
    if (this.http) return; // a request with its own stream is rejected there
    this.#skipped = `; it sent a ${what}, which was skipped`;
    const sole = this.#pending.sole();
    if (!sole || !this.#pending.take(sole.id)) return;
    this.#abandon(sole);
    sole.reject(this.#invalid(`a ${what}`));
  }

  /** A server that sends nothing else must not fill the log. */
  #logGarbage(what: string): void {
    const noise = (this.#garbage ??= {
      pace: new RateLimiter(readRate(LOGGED_GARBAGE)!, this.#options.clock),
      unlogged: 0,
    });
    if (noise.pace.take('') > 0) return void noise.unlogged++;
    const { unlogged } = noise;
    noise.unlogged = 0;
    this.log.warn({ link: this.name, what, ...(unlogged > 0 && { unlogged }) }, 'upstream.garbage');
  }

  /** The server has done its part; we cannot take the answer. */
  #rejectAnswered(pending: WireRequest, what: string): void {
    pending.tracker?.onAnswered();
    pending.reject(this.#invalid(`it answered with a ${what}`));
  }

  #refuse(message: RequestMessage | NotificationMessage): void {
    if (!isRequest(message)) return;
    const { row, message: words } = new GatewayError('ASK_ABANDONED', { method: message.method });
    void this.respond(toErrorMessage(message.id, { code: row.code, message: words })).catch(() => {}); // the server is about to end anyway
  }

  #onRequest(request: RequestMessage, from: RequestId | undefined): void {
    if (this.#speaker) {
      return this.#speaker.onRequest(
        request,
        from === undefined ? undefined : (this.#pending.get(from)?.call ?? 'ended'),
      );
    }
    if (request.method !== PING_PEER) return this.#keep(request);
    void this.respond(toResult(request.id, {})).catch(() => {}); // a lost server needs no answer
  }

  #onNotification(notification: NotificationMessage, from: RequestId | undefined): void {
    const { method, params = {} } = notification;
    const told = method === REQUEST_PROGRESS ? readToken(params) : this.#speaker?.readProgress?.(notification);
    if (told) {
      const { token, progress } = told;
      const known = progress && this.#pending.progress(token, progress);
      if (!known) this.log.debug({ link: this.name, token }, 'progress.unexpected');
    } else if (from !== undefined && this.#pending.get(from)) this.#pending.tell(from, notification);
    else if (this.#speaker) this.#speaker.onNotification(notification);
    else this.#keep(notification);
  }

  #keep(message: RequestMessage | NotificationMessage): void {
    if (this.#early.length < MAX_EARLY) this.#early.push(message);
    else this.log.warn({ link: this.name, method: message.method }, 'upstream.too-early');
  }

  #onResponse(response: ResponseMessage, from: RequestId | undefined, sent: string | undefined): boolean {
    if ('error' in response && response.id !== null && isLostAnswer(response)) {
      const lost = this.#pending.take(response.id);
      if (lost) this.#abandon(lost);
      lost?.reject(this.#closed(response.error.message));
      return false;
    }
    const owned = response.id === null && from !== undefined ? { ...response, id: from } : response;
    if (this.#pending.settle(owned, sent) || this.#tellLate(response)) return true;
    this.log.debug({ link: this.name, id: response.id }, 'answer.unexpected');
    // Ids must keep their type. Rejects the waiting call at once instead of letting it time out.
    const meant = typeof response.id === 'string' ? this.#pending.take(Number(response.id)) : undefined;
    meant?.tracker?.onAnswered();
    meant?.reject(this.#invalid(`the answer to ${meant.method} has the id "${response.id}" and not ${meant.id}`));
    return false;
  }

  #tellLate(response: ResponseMessage): boolean {
    const late = this.#late.get(response.id!);
    if (!late) return false;
    this.#late.delete(response.id!);
    late.tracker?.onAnswered('result' in response ? response.result : undefined);
    if ('result' in response) late.onLate?.(response.result);
    return true;
  }

  #abandon({ id, tracker, onLate }: WireRequest): void {
    if ((tracker || onLate) && this.#late.size < MAX_LATE) this.#late.set(id, { tracker, onLate });
    tracker?.onAbandoned();
  }

  #timeOut(pending: WireRequest, ms: number): void {
    const { method } = pending;
    this.#tellCancelled(pending, { reason: `No answer within ${ms} ms` });
    const words = this.#link.lastWords?.() ?? '';
    const total = pending.isTotal ? ', the longest that a call may take' : '';
    const why = total + this.#skipped + (words === '' ? '' : `; it last wrote to stderr: ${words}`);
    pending.reject(new GatewayError('UPSTREAM_TIMEOUT', { server: this.name, method, ms, why }));
    if (!this.http && pending.heardBefore === this.#heard) this.#options.onSilence?.();
  }

  #callOff(pending: WireRequest): void {
    const why = pending.signal?.reason;
    this.#tellCancelled(pending, why instanceof CancelledByPeer ? why.said : { reason: 'The caller gave up' });
    pending.reject(cancelledBy(pending.signal));
  }

  /** `initialize` must not be cancelled. */
  #tellCancelled(pending: WireRequest, said: JsonObject): void {
    const { id, method, stream, cancelByStream } = pending;
    const byMessage = !(stream && cancelByStream) && method !== INITIALIZE;
    const notice = byMessage ? pending.cancelNotice(id, said) : undefined;
    if (notice) void this.#send(notice).catch(() => {}); // a lost server needs no notification
    this.#abandon(pending);
    stream?.abort(pending.signal?.reason);
  }

  async #send(message: NotificationMessage | ResponseMessage, headers?: Record<string, string>): Promise<void> {
    try {
      await this.#link.send(message, { headers });
    } catch (error) {
      throw this.#toError(error);
    }
  }

  #toError(error: unknown): Error {
    if (error instanceof HttpRefusal) return fromRefusal(error, this.name);
    return error instanceof Error ? error : new Error(String(error));
  }

  #invalid(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_INVALID', { server: this.name, reason });
  }

  #closed(reason = this.closedBy): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', { server: this.name, reason: reason ?? 'closed' });
  }
}

function readToken({ progressToken, ...progress }: JsonObject): ServerProgress {
  return { token: progressToken, progress: readProgress(progress) };
}
