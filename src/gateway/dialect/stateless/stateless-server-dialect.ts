// Talks to servers of the stateless era: every request carries its envelope and headers, questions arrive as results
// and are answered with a retry, and changes arrive on a stream that we open.
import type { LogEntry, Progress } from '../../../protocol/exchange.ts';
import { toNotification } from '../../../protocol/message.ts';
import type { JsonObject, NotificationMessage, RequestMessage } from '../../../protocol/message.ts';
import { isInteraction } from '../../../protocol/interaction.ts';
import type { EncodedParams } from '../../../protocol/raw/encoded-params.ts';
import { RawObject, fieldOf, isResultObject, toPlainObject } from '../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { OutgoingCall, Sender, ServerEvents, ServerView } from '../../../protocol/server-view.ts';
import { CALL_METHODS } from '../../../protocol/methods.ts';
import { pages } from '../../../protocol/pages.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { readChange } from '../notifications.ts';
import type { ServerDialect, Wire } from '../speak/server-dialect.ts';
import { WireRequest } from '../speak/wire-request.ts';
import { answerQuestions, asksHuman, toSuspension, whyNotAnswerable, withAnswers } from './answer-questions.ts';
import { fromFlowError } from './flow-extension.ts';
import { subscriptionOf } from './listen-stream.ts';
import { OutgoingEnvelope } from './envelope.ts';
import type { StatelessIdentity } from './envelope.ts';
import { ToolSchemas, toHeaders } from './headers.ts';
import { SubscriptionStream } from './subscription-stream.ts';

/** Rounds of questions that a call may ask before it is given up. */
const MAX_QUESTION_ROUNDS = 64;

const LOG_MESSAGE = 'notifications/message';

/** Handshake notifications without meaning in this era. */
const HANDSHAKE_ONLY = new Set([
  'notifications/initialized',
  'notifications/roots/list_changed',
  'initialized',
  'exit',
]);

export class StatelessServerDialect implements ServerDialect {
  readonly server: ServerView;
  readonly wire: Wire;
  readonly envelope: OutgoingEnvelope;
  readonly #events: ServerEvents;
  readonly #schemas = new ToolSchemas();
  readonly #watch: SubscriptionStream;

  constructor(wire: Wire, server: ServerView, identity: StatelessIdentity, events: ServerEvents) {
    this.wire = wire;
    this.server = server;
    this.envelope = new OutgoingEnvelope(server.revision, identity);
    this.#events = events;
    this.#watch = new SubscriptionStream(this, events);
  }

  call(call: OutgoingCall): Promise<ResultObject> {
    if (call.method === 'ping') return this.#ping(call);
    return this.#send(this.#request(call, call.resumed ? withAnswers(call, call.resumed) : (call.params ?? {})));
  }

  /** This era has no requests from servers. Refuses them where possible, so that the server learns of its mistake. */
  onRequest(request: RequestMessage): void {
    this.wire.log.warn({ link: this.wire.name, method: request.method }, 'upstream.request-in-stateless-era');
    if (this.wire.http) return; // a POST must not carry a response
    const error = { code: -32601, message: 'Method not found', data: `Unknown method: ${request.method}` };
    void this.wire.respond({ jsonrpc: '2.0', id: request.id, error }).catch(() => {}); // the server is gone
  }

  onNotification(notification: NotificationMessage): void {
    if (subscriptionOf(notification) !== undefined) return this.#watch.onNotification(notification);
    const { method, params = {} } = notification;
    const change = readChange(method, params);
    const isUnnamed = change?.kind === 'log' || change?.kind === 'notification';
    if (isUnnamed && this.#events.onUnnamed) return this.#events.onUnnamed(change);
    const call = isUnnamed ? this.wire.sole() : undefined;
    if (call) this.onRelated(notification, call);
    else this.#watch.onNotification(notification);
  }

  /** The only standard notification of this era is the cancellation, which the wire sends. */
  async notify(method: string, params?: JsonObject, sender?: Sender): Promise<void> {
    if (HANDSHAKE_ONLY.has(method)) return;
    if (isInteraction(method)) return this.wire.notify(toNotification(method, params));
    const headers = this.wire.http ? toHeaders(method, params ?? {}, this.server.revision) : undefined;
    await this.wire.notify(toNotification(method, this.envelope.around(params, sender).toJSON()), headers);
  }

  watch(): void {
    this.#watch.changes();
  }

  async subscribe(uri: string): Promise<JsonObject> {
    await this.#watch.add(uri);
    return {};
  }

  async unsubscribe(uri: string): Promise<JsonObject> {
    await this.#watch.remove(uri);
    return {};
  }

  followTask(taskId: string): Promise<void> {
    return this.#watch.follow(taskId);
  }

  async setLogLevel(level: string): Promise<void> {
    this.envelope.logLevel = level;
  }

  async leave(): Promise<void> {
    this.#watch.stop();
  }

  #invalid(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_INVALID', { server: this.wire.name, reason });
  }

  /** This era has no ping, so sends the request that every server answers. */
  async #ping(call: OutgoingCall): Promise<JsonObject> {
    await this.#send(this.#request(call, call.params ?? {}, 'server/discover'));
    return {};
  }

  #request(call: OutgoingCall, params: JsonObject, method = call.method): StatelessRequest {
    const request = new StatelessRequest(this, call, params);
    request.method = method;
    if (this.wire.http) request.headers = toHeaders(method, params, this.server.revision, this.#schemas);
    if (method === 'tools/call') request.onLate = this.#cancelTask;
    return request;
  }

  /** A header mismatch means that our tool schemas are outdated: reload them and retry once. */
  async #afterMismatch(thrown: unknown, refused: StatelessRequest): Promise<ResultObject> {
    if (refused.isAnswered || !(thrown instanceof ProtocolError) || thrown.code !== -32020) throw thrown;
    const { call, params, round, progress } = refused;
    await this.#learn(call);
    return this.#send(Object.assign(this.#request(call, params), { round, progress, hasFreshSchemas: true }));
  }

  read(request: StatelessRequest, result: unknown): ResultObject | Promise<ResultObject> {
    const { method } = request;
    request.isAnswered = true;
    if (!isResultObject(result)) throw this.#invalid(`${method} answered without a result object`);
    const type = fieldOf(result, 'resultType') ?? 'complete';
    if (type === 'input_required') return this.#answer(request, toPlainObject(result));
    const isPassedOn = type === 'complete' && result instanceof RawObject && CALL_METHODS.has(method);
    return isPassedOn ? result.without('resultType') : this.#toNeutral(method, toPlainObject(result));
  }

  async #answer({ call, round, progress }: StatelessRequest, asking: JsonObject): Promise<ResultObject> {
    // Checked before the user is asked: a discarded answer is worse than no question.
    if (round === MAX_QUESTION_ROUNDS)
      throw this.#invalid(`${call.method} asked more than ${MAX_QUESTION_ROUNDS} times`);
    const problem = whyNotAnswerable(call.method, asking);
    if (problem !== undefined) throw this.#invalid(problem);
    if (call.suspends && !(call.isUnproven && asksHuman(asking))) return toSuspension(asking);
    const params = await answerQuestions(call, asking, this.#events);
    progress?.nextRound();
    return this.#send(Object.assign(this.#request(call, params), { round: round + 1, progress }));
  }

  /** Finds the tool of a call in the list, page by page. */
  async #learn({ params, ...call }: OutgoingCall): Promise<void> {
    const { signal, timeoutMs, info, capabilities } = call;
    const who = { signal, timeoutMs, info, capabilities };
    const name = String(params?.name);
    this.#schemas.forget(name);
    const fetch = async (page: JsonObject) =>
      toPlainObject(await this.call({ ...who, method: 'tools/list', params: page }));
    for await (const _ of pages({ key: 'tools', fetch })) if (this.#schemas.has(name)) return;
  }

  #send(request: StatelessRequest): Promise<ResultObject> {
    const { method } = request;
    const sent = this.wire.send(request) as Promise<ResultObject>;
    if (method !== 'tools/call') return isInteraction(method) ? fromFlowError(sent) : sent;
    if (!this.wire.http || request.hasFreshSchemas) return sent;
    return sent.catch((thrown: unknown) => this.#afterMismatch(thrown, request));
  }

  /** Cancels a task that began after its caller had given up. */
  readonly #cancelTask = (late: unknown): void => {
    if (!isResultObject(late) || fieldOf(late, 'resultType') !== 'task') return;
    const params = { taskId: fieldOf(late, 'taskId') };
    void this.call({ method: 'tasks/cancel', params }).catch(() => {}); // it may have ended
  };

  onRelated(notification: NotificationMessage, call: Pick<OutgoingCall, 'onLog' | 'onNotify'>): void {
    const { method, params } = notification;
    if (method !== LOG_MESSAGE) call.onNotify?.(notification);
    else if (call.onLog && params) call.onLog(params as unknown as LogEntry);
    else this.#watch.tell(notification);
  }

  #toNeutral(method: string, { resultType = 'complete', ...rest }: JsonObject): ResultObject {
    if (resultType === 'task') return { task: rest };
    if (resultType !== 'complete') throw this.#invalid(`unknown resultType ${String(resultType)}`);
    return method === 'tools/list' ? this.#learned(rest) : rest;
  }

  #learned(result: JsonObject): JsonObject {
    const { refused, ...learned } = this.#schemas.learn(result, this.wire.http);
    if (refused.length > 0) this.wire.log.warn({ link: this.wire.name, tools: refused }, 'upstream.tools-refused');
    return learned.result;
  }
}

/** A call, after so many rounds of questions. */
class StatelessRequest extends WireRequest {
  readonly #dialect: StatelessServerDialect;
  readonly params: JsonObject;
  round = 0;
  progress: RisingProgress | undefined;
  /** From then on a failure is not about headers but about the answers. */
  isAnswered = false;
  hasFreshSchemas = false;

  constructor(dialect: StatelessServerDialect, call: OutgoingCall, params: JsonObject) {
    super(call);
    this.#dialect = dialect;
    this.params = params;
    this.progress = call.onProgress && new RisingProgress(call.onProgress);
    this.cancelByStream = true;
    this.takesRaw = 'all';
  }

  override toParams(id: number): EncodedParams {
    return this.#dialect.envelope.around(this.params, this.call, this.progress && id);
  }

  override onProgress(progress: Progress): void {
    this.progress?.tell(progress);
  }

  override onNotify(notification: NotificationMessage): void {
    this.#dialect.onRelated(notification, this.call);
  }

  override read(result: unknown): ResultObject | Promise<ResultObject> {
    return this.#dialect.read(this, result);
  }
}

/** Keeps progress rising across the rounds of a call, because they share one progress token. */
class RisingProgress {
  readonly #tell: (progress: Progress) => void;
  #highest = -Infinity;
  #floor = -Infinity;

  constructor(tell: (progress: Progress) => void) {
    this.#tell = tell;
  }

  tell(progress: Progress): void {
    if (progress.progress <= this.#floor) return;
    this.#highest = Math.max(this.#highest, progress.progress);
    this.#tell(progress);
  }

  nextRound(): void {
    this.#floor = this.#highest;
  }
}
