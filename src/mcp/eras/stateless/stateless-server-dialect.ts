// Talks to servers of the stateless era: every request carries its envelope and headers, questions arrive as results
// and are answered with a retry, and changes arrive on a stream that we open.
import type { LogEntry, Progress } from '../../../kernel/exchange.ts';
import { toNotification } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestMessage } from '../../../kernel/message.ts';
import { isInteraction } from '../../../kernel/interaction.ts';
import type { EncodedParams } from '../../../kernel/raw/encoded-params.ts';
import { RawObject, fieldOf, isResultObject, toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { OutgoingCall, Sender, ServerEvents, ServerView } from '../../../kernel/server-view.ts';
import { CALL_METHODS } from '../../../kernel/methods.ts';
import { pages } from '../../../kernel/pages.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { readChange } from '../notifications.ts';
import { isMissing, methodsOf } from '../revisions.ts';
import type { MethodRegistry } from '../methods.ts';
import { sendRequest } from '../speak/send-again.ts';
import type { Remedy } from '../speak/remedy.ts';
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
  readonly #methods: MethodRegistry;
  readonly #schemas = new ToolSchemas();
  readonly #watch: SubscriptionStream;

  constructor(wire: Wire, server: ServerView, identity: StatelessIdentity, events: ServerEvents) {
    this.wire = wire;
    this.server = server;
    this.envelope = new OutgoingEnvelope(server.revision, identity);
    this.#events = events;
    this.#methods = methodsOf(server.revision);
    this.#watch = new SubscriptionStream(this, events);
  }

  call(call: OutgoingCall, remedy?: Remedy): Promise<ResultObject> {
    if (call.method === 'ping') return this.#ping(call, remedy);
    if (isMissing(call.method, this.#methods)) {
      return Promise.reject(new ProtocolError(-32601, 'Method not found', `Unknown method: ${call.method}`));
    }
    const params = call.resumed ? withAnswers(call, call.resumed) : (call.params ?? {});
    return this.#send(new StatelessRequest(this, call, { params, method: call.method, round: 0, remedy }));
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
  async #ping(call: OutgoingCall, remedy: Remedy | undefined): Promise<JsonObject> {
    const { params = {} } = call;
    await this.#send(new StatelessRequest(this, call, { params, method: 'server/discover', round: 0, remedy }));
    return {};
  }

  headersFor(method: string, params: JsonObject): Record<string, string> {
    return toHeaders(method, params, this.server.revision, this.#schemas);
  }

  read(request: StatelessRequest, result: unknown): ResultObject | Promise<ResultObject> {
    const { method } = request;
    request.hasResult = true;
    if (!isResultObject(result)) throw this.#invalid(`${method} answered without a result object`);
    const type = fieldOf(result, 'resultType') ?? 'complete';
    if (type === 'input_required') return this.#answer(request, toPlainObject(result));
    const isPassedOn = type === 'complete' && result instanceof RawObject && CALL_METHODS.has(method);
    return isPassedOn ? result.without('resultType') : this.#toNeutral(method, toPlainObject(result));
  }

  async #answer({ call, form, progress }: StatelessRequest, asking: JsonObject): Promise<ResultObject> {
    const { round } = form;
    // Checked before the user is asked: a discarded answer is worse than no question.
    if (round === MAX_QUESTION_ROUNDS)
      throw this.#invalid(`${call.method} asked more than ${MAX_QUESTION_ROUNDS} times`);
    const problem = whyNotAnswerable(call.method, asking);
    if (problem !== undefined) throw this.#invalid(problem);
    if (call.suspends && !(call.isUnproven && asksHuman(asking))) return toSuspension(asking, !this.wire.http);
    const params = await answerQuestions(call, asking, this.#events);
    progress?.nextRound();
    return this.#send(new StatelessRequest(this, call, { ...form, params, round: round + 1, progress }));
  }

  #send(request: StatelessRequest): Promise<ResultObject> {
    const sent = sendRequest(this.wire, request) as Promise<ResultObject>;
    return request.method !== 'tools/call' && isInteraction(request.method) ? fromFlowError(sent) : sent;
  }

  /** A header mismatch means that our tool schemas are outdated. Finds the tool of the call in the list, page by page. */
  async learn(
    { params, signal, timeoutMs, info, capabilities }: OutgoingCall,
    remedy: Remedy | undefined,
  ): Promise<void> {
    const who = { signal, timeoutMs, info, capabilities };
    const name = String(params?.name);
    this.#schemas.forget(name);
    const fetch = async (page: JsonObject) =>
      toPlainObject(await this.call({ ...who, method: 'tools/list', params: page }, remedy));
    for await (const _ of pages({ key: 'tools', fetch })) if (this.#schemas.has(name)) return;
  }

  /** Cancels a task that began after its caller had given up. */
  readonly cancelTask = (late: unknown): void => {
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

/** One request of a call. */
interface StatelessForm {
  /** Those of the call, with the answers to the questions of the last round. */
  params: JsonObject;
  method: string;
  /** How many rounds of questions were before. */
  round: number;
  progress?: RisingProgress | undefined;
  remedy: Remedy | undefined;
}

const isMismatch = (thrown: unknown): boolean => thrown instanceof ProtocolError && thrown.code === -32020;

class StatelessRequest extends WireRequest {
  readonly #dialect: StatelessServerDialect;
  readonly form: StatelessForm;
  readonly progress: RisingProgress | undefined;
  /** Its headers depend on the schema of the tool. */
  readonly #hasToolHeaders: boolean;

  constructor(dialect: StatelessServerDialect, call: OutgoingCall, form: StatelessForm) {
    super(call, form.remedy);
    const { method, params } = form;
    const { http } = dialect.wire;
    this.#dialect = dialect;
    this.form = form;
    this.method = method;
    this.progress = form.progress ?? (call.onProgress && new RisingProgress(call.onProgress));
    this.cancelByStream = true;
    this.takesRaw = 'all';
    this.#hasToolHeaders = http && method === 'tools/call';
    if (http) this.headers = dialect.headersFor(method, params);
    if (method === 'tools/call') this.onLate = dialect.cancelTask;
  }

  override again(): WireRequest {
    return new StatelessRequest(this.#dialect, this.call, { ...this.form, progress: this.progress });
  }

  override get mayRepeat(): boolean {
    return this.#hasToolHeaders || super.mayRepeat;
  }

  /** Schemas are learned once: a server that refuses the headers made of them has another reason. */
  override async putRight(thrown: unknown, earlier: readonly unknown[]): Promise<boolean> {
    if (!this.#hasToolHeaders || !isMismatch(thrown)) return super.putRight(thrown, earlier);
    if (earlier.some(isMismatch)) return false;
    await this.#dialect.learn(this.call, this.remedy);
    return true;
  }

  override toParams(id: number): EncodedParams {
    return this.#dialect.envelope.around(this.form.params, this.call, this.progress && id);
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
