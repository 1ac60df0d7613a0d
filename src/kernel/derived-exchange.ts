// An exchange made from another one: the same request with other params or facts, or with another channel to the client.
// 1. What may change while a call runs (the client, the server, the guard) is read from the client's request itself,
//    however many exchanges were made from it.
// 2. Params belong to each exchange alone.
import type { Abortable } from './base/cancellation.ts';
import { toSignal } from './base/cancellation.ts';
import { droppable } from './base/stray-promises.ts';
import type { Ask, ClientChannel, ClientView, Exchange, LogEntry, Progress } from './exchange.ts';
import type { JsonObject } from './message.ts';

/** A channel before that of another exchange. Everything that it does not have passes it by. */
export interface ChannelPart extends Partial<ClientChannel> {
  /** Cancels the exchange instead of what cancels the other one. */
  readonly cancellation?: Abortable | undefined;
}

/** What a derived exchange may have of its own. */
type OwnFacts = Pick<Exchange, 'params' | 'trace' | 'task' | 'resumed' | 'ownTool' | 'expectsQuestions' | 'awaitsTask'>;

export function deriveExchange(
  exchange: Exchange,
  { channel, ...facts }: Partial<OwnFacts> & { channel?: ChannelPart },
): Exchange {
  return Object.assign(new DerivedExchange(exchange, channel), facts);
}

export class DerivedExchange implements Exchange {
  /** The request as the client made it. */
  readonly #request: Exchange;
  protected readonly inner: Exchange;
  protected channel: ChannelPart | undefined;
  /** Set by a step. */
  ownCancellation: Abortable | undefined;
  readonly method: string;
  params: JsonObject;
  readonly trace: Exchange['trace'];
  readonly task: Exchange['task'];
  readonly resumed: Exchange['resumed'];
  readonly ownTool: Exchange['ownTool'];
  readonly expectsQuestions: boolean | undefined;
  readonly awaitsTask: boolean | undefined;

  constructor(inner: Exchange, channel?: ChannelPart) {
    this.#request = inner instanceof DerivedExchange ? inner.#request : inner;
    this.inner = inner;
    this.channel = channel;
    this.ownCancellation = undefined;
    this.method = inner.method;
    this.params = inner.params;
    this.trace = inner.trace;
    this.task = inner.task;
    this.resumed = inner.resumed;
    this.ownTool = inner.ownTool;
    this.expectsQuestions = inner.expectsQuestions;
    this.awaitsTask = inner.awaitsTask;
  }

  get id(): string {
    return this.#request.id;
  }

  get arrival(): number | undefined {
    return this.#request.arrival;
  }

  get client(): ClientView {
    return this.#request.client;
  }

  get isNotification(): boolean | undefined {
    return this.#request.isNotification;
  }

  get logLevel(): Exchange['logLevel'] {
    return this.#request.logLevel;
  }

  get wantsProgress(): boolean | undefined {
    return this.#request.wantsProgress;
  }

  get isConnected(): boolean | undefined {
    return this.#request.isConnected;
  }

  get server(): string | undefined {
    return this.#request.server;
  }

  set server(server: string | undefined) {
    this.#request.server = server;
  }

  get observed(): Exchange['observed'] {
    return this.#request.observed;
  }

  /** Set where the pipeline begins, which some requests enter as derived ones: an era may ask for a list page by page. */
  set observed(observed: Exchange['observed']) {
    this.#request.observed = observed;
  }

  get resourceGuard(): Exchange['resourceGuard'] {
    return this.#request.resourceGuard;
  }

  set resourceGuard(guard: Exchange['resourceGuard']) {
    this.#request.resourceGuard = guard;
  }

  get runGuard(): Exchange['runGuard'] {
    return this.#request.runGuard;
  }

  set runGuard(guard: Exchange['runGuard']) {
    this.#request.runGuard = guard;
  }

  get decision(): Exchange['decision'] {
    return this.#request.decision;
  }

  set decision(decision: Exchange['decision']) {
    this.#request.decision = decision;
  }

  /** Created on demand: most calls are never cancelled. */
  get signal(): AbortSignal {
    const own = this.ownCancellation ?? this.channel?.cancellation;
    return own ? toSignal(own) : this.inner.signal;
  }

  set signal(signal: AbortSignal) {
    this.ownCancellation = signal;
  }

  get cancellation(): Abortable {
    return this.ownCancellation ?? this.channel?.cancellation ?? this.inner.cancellation ?? this.inner.signal;
  }

  set cancellation(cancellation: Abortable) {
    this.ownCancellation = cancellation;
  }

  get maySuspend(): boolean | undefined {
    return this.channel?.maySuspend ?? this.inner.maySuspend;
  }

  notify(method: string, params?: JsonObject): void {
    if (this.channel?.notify) this.channel.notify(method, params);
    else this.inner.notify(method, params);
  }

  progress(progress: Progress): void {
    if (this.channel?.progress) this.channel.progress(progress);
    else this.inner.progress(progress);
  }

  log(entry: LogEntry): void {
    if (this.channel?.log) this.channel.log(entry);
    else this.inner.log(entry);
  }

  canAsk(ask: Ask): boolean {
    return this.channel?.canAsk ? this.channel.canAsk(ask) : this.inner.canAsk(ask);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return droppable(this.channel?.ask ? this.channel.ask(ask, signal) : this.inner.ask(ask, signal));
  }

  byPage(ask: Ask, by: Exchange, signal?: AbortSignal): Promise<JsonObject> | undefined {
    return this.channel?.byPage ? this.channel.byPage(ask, by, signal) : this.inner.byPage?.(ask, by, signal);
  }

  waits(words: string, signal: AbortSignal): void {
    if (this.channel?.waits) this.channel.waits(words, signal);
    else this.inner.waits?.(words, signal);
  }

  whenTaken(callback: () => void): void {
    if (this.channel?.whenTaken) this.channel.whenTaken(callback);
    else if (this.inner.whenTaken) this.inner.whenTaken(callback);
    else callback();
  }

  releaseStream(retryMs: number): void {
    if (this.channel?.releaseStream) this.channel.releaseStream(retryMs);
    else this.inner.releaseStream(retryMs);
  }
}
