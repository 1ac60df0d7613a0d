// Talks to servers of the handshake era. Results pass through unchanged, except that fields which only the newest form
// has are added.
import { isObject, toErrorMessage, toNotification } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from '../../../kernel/message.ts';
import { writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { isInteraction } from '../../../kernel/interaction.ts';
import { RawObject, fieldOf, isResultObject, toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type {
  OutgoingCall,
  RequestTracker,
  SubscribeOptions,
  ServerEvents,
  ServerView,
  UnattributedChange,
} from '../../../kernel/server-view.ts';
import type { Change } from '../../../kernel/target.ts';
import { EncodedParams } from '../../../kernel/raw/encoded-params.ts';
import type { OutgoingParams } from '../../../kernel/raw/encoded-params.ts';
import { cancelledBy } from '../../../kernel/base/cancelled-error.ts';
import { CancelledByPeer } from '../../../kernel/base/cancellation.ts';
import { rejectOnAbort } from '../../../kernel/base/timing.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { answerAsk } from '../ask.ts';
import { plainError } from '../plain-error.ts';
import { featuresOf } from './features.ts';
import { readChange } from '../notifications.ts';
import { isMissing, methodsOf } from '../revisions.ts';
import type { MethodRegistry } from '../methods.ts';
import { sendRequest } from '../speak/send-again.ts';
import type { Remedy } from '../speak/remedy.ts';
import type { ServerDialect, Wire } from '../speak/server-dialect.ts';
import { WireRequest } from '../speak/wire-request.ts';
import { fromTask } from './results.ts';

export class HandshakeServerDialect implements ServerDialect {
  readonly server: ServerView;
  readonly #wire: Wire;
  readonly #events: ServerEvents;
  readonly #methods: MethodRegistry;
  #answering = new Map<unknown, AbortController>();
  /** The number of open questions. Counted, because a server may give all of them the same id. */
  #asked = 0;

  constructor(wire: Wire, server: ServerView, events: ServerEvents) {
    this.#wire = wire;
    this.server = server;
    this.#events = events;
    this.#methods = methodsOf(server.revision);
  }

  call(call: OutgoingCall, remedy?: Remedy): Promise<ResultObject> {
    if (isMissing(call.method, this.#methods)) {
      return Promise.reject(new ProtocolError(-32601, 'Method not found', `Unknown method: ${call.method}`));
    }
    return call.task && this.#canRunTasks() ? this.#startTask(call, remedy) : this.#send(call, remedy);
  }

  /** Not cancelled like other requests: only the answer names the task, which is then cancelled. */
  async #startTask(call: OutgoingCall, remedy: Remedy | undefined): Promise<ResultObject> {
    const { signal } = call;
    if (signal?.aborted) throw cancelledBy(signal);
    const started = this.#send(call, remedy, false);
    try {
      return await rejectOnAbort(started, signal, () => cancelledBy(signal));
    } catch (thrown) {
      if (signal?.aborted) void started.then((result) => this.#cancelTask(result)).catch(() => {}); // no task was started
      throw thrown;
    }
  }

  async #cancelTask(result: ResultObject): Promise<void> {
    const task = fieldOf(result, 'task');
    if (isObject(task)) await this.call({ method: 'tasks/cancel', params: { taskId: task.taskId } });
  }

  #send(call: OutgoingCall, remedy: Remedy | undefined, mayCancel = true): Promise<ResultObject> {
    const { method } = call;
    const request = new HandshakeRequest(this, call, { params: this.#toParams(call), mayCancel, remedy });
    const sent = sendRequest(this.#wire, request) as Promise<ResultObject>;
    return method === 'completion/complete' ? sent.catch((thrown: unknown) => this.#noCompletion(thrown)) : sent;
  }

  read(method: string, result: unknown): ResultObject {
    if (isResultObject(result)) return fromResult(method, result);
    const reason = `${method} answered without a result object`;
    throw new GatewayError('UPSTREAM_INVALID', { server: this.#wire.name, reason });
  }

  /** The oldest revision has no completion capability, so an error may mean that the server has none. */
  #noCompletion(thrown: unknown): JsonObject {
    const unknown = thrown instanceof ProtocolError && thrown.code === -32601;
    if (!unknown || featuresOf(this.server.revision).completionsFlag) throw thrown;
    return { completion: { values: [] } };
  }

  /** A question on the stream of a call goes to the client that made the call. */
  onRequest(request: RequestMessage, call?: Pick<OutgoingCall, 'ask'> | 'ended'): void {
    const { maxAsked = DEFAULT_LIMITS.maxInFlight } = this.#events;
    const isCounted = !isInteraction(request.method); // the client side drops the oldest of these
    if (isCounted && this.#asked >= maxAsked) {
      const tooMany = new GatewayError('TOO_MANY', { what: 'questions at once', limit: 'maxInFlight' });
      return this.#respond(toErrorMessage(request.id, plainError(tooMany)));
    }
    const controller = new AbortController();
    this.#answering.set(request.id, controller);
    if (isCounted) this.#asked++;
    // Session notices and pings await no person: a client that never confirms one must not pause the timeouts of calls.
    const resume = isCounted && request.method !== 'ping' ? this.#pauseTimeouts(call) : undefined;
    const tell = (notification: NotificationMessage): void => void this.#wire.notify(notification).catch(() => {});
    void answerAsk(request, this.#answererOf(request, call), controller.signal, tell).then((response) => {
      resume?.();
      if (isCounted) this.#asked--;
      if (this.#answering.get(request.id) === controller) this.#answering.delete(request.id);
      if (!controller.signal.aborted) this.#respond(response);
    });
  }

  #respond(response: ResponseMessage): void {
    void this.#wire.respond(response).catch(() => {}); // the server is gone
  }

  #pauseTimeouts(call: Pick<OutgoingCall, 'ask'> | 'ended' | undefined): (() => void) | undefined {
    if (call && call !== 'ended') return this.#wire.pauseTimeouts(call);
    return call === 'ended' || this.#events.pausesCalls ? undefined : this.#wire.pauseTimeouts();
  }

  #answererOf(
    { method }: RequestMessage,
    call: Pick<OutgoingCall, 'ask'> | 'ended' | undefined,
  ): Pick<ServerEvents, 'onAsk' | 'onPing'> {
    const events = this.#events;
    if (method === 'ping') return events;
    if (call && call !== 'ended' && call.ask) return { onAsk: (ask, signal) => call.ask!(ask, signal) };
    if (!call || !events.onLateAsk) return events;
    return { onAsk: (ask, signal) => events.onLateAsk!(ask, signal) };
  }

  onNotification(notification: NotificationMessage): void {
    const { method, params = {} } = notification;
    if (method === 'notifications/cancelled') return this.#stopAnswering(params);
    if (isInteraction(method)) return this.#events.onNotice?.({ jsonrpc: '2.0', method, params });
    const change = readChange(method, params);
    if (change?.kind === 'log' || change?.kind === 'notification') this.#tellUnnamed(change, notification);
    else if (change) this.#events.onChange(change);
  }

  #stopAnswering({ requestId, ...said }: JsonObject): void {
    this.#answering.get(requestId)?.abort(new CancelledByPeer(said));
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#wire.notify(toNotification(method, params));
  }

  watch(): void {}

  subscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject> {
    return this.#tellOfUri('resources/subscribe', uri, said);
  }

  unsubscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject> {
    return this.#tellOfUri('resources/unsubscribe', uri, said);
  }

  async #tellOfUri(method: string, uri: string, { params, trace }: SubscribeOptions = {}): Promise<JsonObject> {
    const track = (): RequestTracker | undefined => this.#events.track?.();
    return toPlainObject(await this.call({ method, params: { ...params, uri }, trace, track }));
  }

  async setLogLevel(level: string): Promise<void> {
    await this.call({ method: 'logging/setLevel', params: { level } });
  }

  onClose(): void {
    for (const controller of this.#answering.values()) controller.abort();
  }

  async leave(): Promise<void> {}

  /** If a POST has its own stream, all kinds of notifications arrive on it. */
  onRelated(notification: NotificationMessage, call: OutgoingCall): void {
    const { method, params = {} } = notification;
    const change = isInteraction(method) ? undefined : readChange(method, params);
    if (change?.kind === 'log') this.#tellLog(change, call);
    else if (change?.kind === 'notification') call.onNotify?.(notification);
    else this.onNotification(notification);
  }

  /** On a connection with a single client it belongs to the only open call, or to none. */
  #tellUnnamed(change: UnattributedChange, notification: NotificationMessage): void {
    if (this.#events.onUnnamed) return this.#events.onUnnamed(change);
    const sole = this.#wire.sole();
    if (change.kind === 'log') this.#tellLog(change, sole);
    else if (sole?.onNotify) sole.onNotify(notification);
    else this.#events.onChange(change);
  }

  #tellLog(change: Extract<Change, { kind: 'log' }>, call: Pick<OutgoingCall, 'onLog'> | undefined): void {
    if (call?.onLog) call.onLog(change.entry);
    else this.#events.onChange(change);
  }

  #toParams({ method, params, task }: OutgoingCall): JsonObject | undefined {
    if (method === 'completion/complete' && !featuresOf(this.server.revision).structured) return withoutContext(params);
    if (!task || !this.#canRunTasks()) return params;
    return { ...params, task: { ...(task.ttl !== undefined && { ttl: task.ttl }) } };
  }

  /** A server without tasks may reject a request for one. */
  #canRunTasks(): boolean {
    const { tasks } = this.server.capabilities as { tasks?: { requests?: { tools?: { call?: unknown } } } };
    return featuresOf(this.server.revision).tasks && tasks?.requests?.tools?.call !== undefined;
  }
}

interface HandshakeForm {
  params: JsonObject | undefined;
  /** False if the server must not be told of a cancel. */
  mayCancel: boolean;
  remedy: Remedy | undefined;
}

class HandshakeRequest extends WireRequest {
  readonly #dialect: HandshakeServerDialect;
  readonly #form: HandshakeForm;

  constructor(dialect: HandshakeServerDialect, call: OutgoingCall, form: HandshakeForm) {
    super(call, form.remedy);
    this.#dialect = dialect;
    this.#form = form;
    this.takesRaw = 'all';
    if (!form.mayCancel) this.signal = undefined;
  }

  override again(): WireRequest {
    return new HandshakeRequest(this.#dialect, this.call, this.#form);
  }

  override toParams(id: number): OutgoingParams | undefined {
    return toSent(this.#form.params, this.call, this.call.onProgress && id);
  }

  override onNotify(notification: NotificationMessage): void {
    this.#dialect.onRelated(notification, this.call);
  }

  override read(result: unknown): ResultObject {
    return this.#dialect.read(this.method, result);
  }
}

/** Adds the call's `_meta` to the params, if the call has any. */
function toSent(
  params: JsonObject | undefined,
  { trace }: OutgoingCall,
  progressToken: number | undefined,
): OutgoingParams | undefined {
  if (!trace && progressToken === undefined) return params;
  const own = params?._meta;
  if (!trace && own === undefined) return new EncodedParams(params, `{"progressToken":${progressToken}}`);
  const meta = { ...(isObject(own) ? own : undefined), ...trace, progressToken };
  return new EncodedParams({ ...params, _meta: undefined }, writeExactly(meta));
}

/** `context` came into completion with 2025-06-18. */
function withoutContext(params: JsonObject | undefined): JsonObject | undefined {
  const { context, ...rest } = params ?? {};
  return params && rest;
}

function fromResult(method: string, result: ResultObject): ResultObject {
  if (!(result instanceof RawObject)) return fromRead(method, result);
  return isNeutral(method, result) ? result : fromRead(method, result.parse());
}

/** Whether the newest form is the same. Lists are parsed right away, since every receiver reads them. */
function isNeutral(method: string, result: RawObject): boolean {
  if (method === 'resources/read' || method === 'prompts/get') return true;
  if (method !== 'tools/call' && method !== 'tasks/result') return false;
  return !result.has('task');
}

function fromRead(method: string, result: JsonObject): JsonObject {
  if (method === 'tools/call' && isObject(result.task)) return { ...result, task: fromTask(result.task) };
  if (method === 'tasks/get' || method === 'tasks/cancel') return fromTask(result) as unknown as JsonObject;
  if (method === 'tasks/list' && Array.isArray(result.tasks)) return { ...result, tasks: result.tasks.map(fromTask) };
  return result;
}
