// An exchange that carries another trace context on than it came with. Everything else is the exchange itself.
import type { Ask, ClientView, Exchange, LogEntry, Progress, TraceContext } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';

export class TracedExchange implements Exchange {
  readonly trace: TraceContext;
  readonly #inner: Exchange;

  constructor(inner: Exchange, trace: TraceContext) {
    this.#inner = inner;
    this.trace = trace;
  }

  get id(): string {
    return this.#inner.id;
  }

  get method(): string {
    return this.#inner.method;
  }

  get params(): JsonObject {
    return this.#inner.params;
  }

  set params(params: JsonObject) {
    this.#inner.params = params;
  }

  get client(): ClientView {
    return this.#inner.client;
  }

  get server(): string | undefined {
    return this.#inner.server;
  }

  set server(server: string | undefined) {
    this.#inner.server = server;
  }

  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  get logLevel(): Exchange['logLevel'] {
    return this.#inner.logLevel;
  }

  get task(): Exchange['task'] {
    return this.#inner.task;
  }

  notify(method: string, params?: JsonObject): void {
    this.#inner.notify(method, params);
  }

  progress(progress: Progress): void {
    this.#inner.progress(progress);
  }

  log(entry: LogEntry): void {
    this.#inner.log(entry);
  }

  canAsk(ask: Ask): boolean {
    return this.#inner.canAsk(ask);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.#inner.ask(ask, signal);
  }

  releaseStream(retryMs: number): void {
    this.#inner.releaseStream(retryMs);
  }
}
