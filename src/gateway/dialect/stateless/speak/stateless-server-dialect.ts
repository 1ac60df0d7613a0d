// Talks to servers of the stateless era: every request carries its envelope and headers, questions arrive as results
// and are answered with a retry, and changes arrive on a stream that we open.
import type { LogEntry } from '../../../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage, RequestMessage } from '../../../../protocol/message.ts';
import { toNotification } from '../../../../protocol/message.ts';
import { isInteraction } from '../../../../protocol/interaction.ts';
import { RawObject, fieldOf, isResultObject, toPlainObject } from '../../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../../protocol/raw/raw-object.ts';
import type { OutgoingCall, Sender, ServerEvents, ServerView } from '../../../../protocol/server-view.ts';
import { CALL_METHODS } from '../../../../protocol/methods.ts';
import { pages } from '../../../../protocol/pages.ts';
import { GatewayError, ProtocolError } from '../../../../shared/errors.ts';
import { readChange } from '../../speak/read-change.ts';
import type { ServerDialect, Wire } from '../../speak/server-dialect.ts';
import { answerQuestions, asksHuman, toSuspension, whyNotAnswerable, withAnswers } from './answer-questions.ts';
import { fromFlowError } from '../flow-extension.ts';
import { subscriptionOf } from './listen-stream.ts';
import { OutgoingEnvelope } from './outgoing-envelope.ts';
import type { StatelessIdentity } from './outgoing-envelope.ts';
import { toHeaders } from './outgoing-headers.ts';
import { RisingProgress } from '../rising-progress.ts';
import { ToolSchemas } from './tool-schemas.ts';
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

/** A call after so many rounds of questions. */
interface Round {
  call: OutgoingCall;
  round: number;
  progress: RisingProgress | undefined;
  /** From then on a failure is not about headers but about the answers. */
  isAnswered?: boolean;
  hasFreshSchemas?: boolean;
}

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
    return this.#send(
      { call, round: 0, progress: call.onProgress && new RisingProgress(call.onProgress) },
      call.resumed ? withAnswers(call, call.resumed) : (call.params ?? {}),
    );
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
    if (call) this.#onRelated(notification, call);
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

  invalid(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_INVALID', { server: this.wire.name, reason });
  }

  /** This era has no ping, so sends the request that every server answers. */
  async #ping(call: OutgoingCall): Promise<JsonObject> {
    await this.call({ ...call, method: 'server/discover' });
    return {};
  }

  /** A header mismatch means that our tool schemas are outdated: reload them and retry once. */
  async #afterMismatch(thrown: unknown, at: Round, params: JsonObject): Promise<ResultObject> {
    if (at.isAnswered || !(thrown instanceof ProtocolError) || thrown.code !== -32020) throw thrown;
    at.hasFreshSchemas = true;
    await this.#learn(at.call);
    return this.#send(at, params);
  }

  #read(at: Round, result: unknown): ResultObject | Promise<ResultObject> {
    const { method } = at.call;
    at.isAnswered = true;
    if (!isResultObject(result)) throw this.invalid(`${method} answered without a result object`);
    const type = fieldOf(result, 'resultType') ?? 'complete';
    if (type === 'input_required') return this.#answer(at, toPlainObject(result));
    const isPassedOn = type === 'complete' && result instanceof RawObject && CALL_METHODS.has(method);
    return isPassedOn ? result.without('resultType') : this.#toNeutral(method, toPlainObject(result));
  }

  async #answer({ call, round, progress }: Round, asking: JsonObject): Promise<ResultObject> {
    // Checked before the user is asked: a discarded answer is worse than no question.
    if (round === MAX_QUESTION_ROUNDS)
      throw this.invalid(`${call.method} asked more than ${MAX_QUESTION_ROUNDS} times`);
    const problem = whyNotAnswerable(call.method, asking);
    if (problem !== undefined) throw this.invalid(problem);
    if (call.suspends && !(call.isUnproven && asksHuman(asking))) return toSuspension(asking);
    const params = await answerQuestions(call, asking, this.#events);
    progress?.nextRound();
    return this.#send({ call, round: round + 1, progress }, params);
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

  #send(at: Round, params: JsonObject): Promise<ResultObject> {
    const { call, progress } = at;
    const { method } = call;
    const sent = this.wire.call(call, {
      headers: this.wire.http ? toHeaders(method, params, this.server.revision, this.#schemas) : undefined,
      cancelByStream: true,
      toParams: (token) => this.envelope.around(params, call, progress && token),
      onProgress: progress && ((told) => progress.tell(told)),
      onNotify: (notification) => this.#onRelated(notification, call),
      onLate: method === 'tools/call' ? this.#cancelTask : undefined,
      takesRaw: 'all',
      read: (result) => this.#read(at, result),
    }) as Promise<ResultObject>;
    if (method !== 'tools/call') return isInteraction(method) ? fromFlowError(sent) : sent;
    if (!this.wire.http || at.hasFreshSchemas) return sent;
    return sent.catch((thrown: unknown) => this.#afterMismatch(thrown, at, params));
  }

  /** Cancels a task that began after its caller had given up. */
  readonly #cancelTask = (late: unknown): void => {
    if (!isResultObject(late) || fieldOf(late, 'resultType') !== 'task') return;
    const params = { taskId: fieldOf(late, 'taskId') };
    void this.call({ method: 'tasks/cancel', params }).catch(() => {}); // it may have ended
  };

  #onRelated(notification: NotificationMessage, call: Pick<OutgoingCall, 'onLog' | 'onNotify'>): void {
    const { method, params } = notification;
    if (method !== LOG_MESSAGE) call.onNotify?.(notification);
    else if (call.onLog && params) call.onLog(params as unknown as LogEntry);
    else this.#watch.tell(notification);
  }

  #toNeutral(method: string, { resultType = 'complete', ...rest }: JsonObject): ResultObject {
    if (resultType === 'task') return { task: rest };
    if (resultType !== 'complete') throw this.invalid(`unknown resultType ${String(resultType)}`);
    return method === 'tools/list' ? this.#learned(rest) : rest;
  }

  #learned(result: JsonObject): JsonObject {
    const { refused, ...learned } = this.#schemas.learn(result, this.wire.http);
    if (refused.length > 0) this.wire.log.warn({ link: this.wire.name, tools: refused }, 'upstream.tools-refused');
    return learned.result;
  }
}
