// An exchange that forwards to another one; subclasses override parts. Everything is read on access, so nothing gets
// stale.
import type { Abortable } from '../shared/cancellation.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress } from './exchange.ts';
import type { JsonObject } from './message.ts';

export class DelegatedExchange implements Exchange {
  protected inner: Exchange;

  constructor(inner: Exchange) {
    this.inner = inner;
  }

  get id(): string {
    return this.inner.id;
  }

  get method(): string {
    return this.inner.method;
  }

  get params(): JsonObject {
    return this.inner.params;
  }

  set params(params: JsonObject) {
    this.inner.params = params;
  }

  get client(): ClientView {
    return this.inner.client;
  }

  get isNotification(): boolean | undefined {
    return this.inner.isNotification;
  }

  get server(): string | undefined {
    return this.inner.server;
  }

  set server(server: string | undefined) {
    this.inner.server = server;
  }

  get resourceGuard(): Exchange['resourceGuard'] {
    return this.inner.resourceGuard;
  }

  set resourceGuard(guard: Exchange['resourceGuard']) {
    this.inner.resourceGuard = guard;
  }

  get signal(): AbortSignal {
    return this.inner.signal;
  }

  /** A subclass with its own signal must override this too. */
  get cancellation(): Abortable | undefined {
    return this.inner.cancellation;
  }

  get isConnected(): boolean | undefined {
    return this.inner.isConnected;
  }

  get trace(): Exchange['trace'] {
    return this.inner.trace;
  }

  get logLevel(): Exchange['logLevel'] {
    return this.inner.logLevel;
  }

  get wantsProgress(): boolean | undefined {
    return this.inner.wantsProgress;
  }

  get task(): Exchange['task'] {
    return this.inner.task;
  }

  get expectsQuestions(): boolean | undefined {
    return this.inner.expectsQuestions;
  }

  get awaitsTask(): boolean | undefined {
    return this.inner.awaitsTask;
  }

  get maySuspend(): boolean | undefined {
    return this.inner.maySuspend;
  }

  get ownTool(): Exchange['ownTool'] {
    return this.inner.ownTool;
  }

  get resumed(): Exchange['resumed'] {
    return this.inner.resumed;
  }

  notify(method: string, params?: JsonObject): void {
    this.inner.notify(method, params);
  }

  progress(progress: Progress): void {
    this.inner.progress(progress);
  }

  log(entry: LogEntry): void {
    this.inner.log(entry);
  }

  canAsk(ask: Ask): boolean {
    return this.inner.canAsk(ask);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.inner.ask(ask, signal);
  }

  waits(words: string, signal: AbortSignal): void {
    this.inner.waits?.(words, signal);
  }

  whenTaken(callback: () => void): void {
    if (this.inner.whenTaken) this.inner.whenTaken(callback);
    else callback();
  }

  byPage(ask: Ask, by: Exchange, signal?: AbortSignal): Promise<JsonObject> | undefined {
    return this.inner.byPage?.(ask, by, signal);
  }

  releaseStream(retryMs: number): void {
    this.inner.releaseStream(retryMs);
  }
}
