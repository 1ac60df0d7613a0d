// An exchange as steps see it: what travels back passes their hooks, innermost first. Everything else is the exchange itself.
import type { Ask, ClientView, Exchange, LogEntry, Progress, TraceContext } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Hooks, StepExchange } from '../../protocol/step.ts';

export class ChainExchange implements StepExchange {
  readonly #inner: Exchange;
  #hooks: Hooks[] | undefined;
  params: JsonObject;
  server: string | undefined;

  constructor(inner: Exchange) {
    this.#inner = inner;
    this.params = inner.params;
  }

  get id(): string {
    return this.#inner.id;
  }

  get method(): string {
    return this.#inner.method;
  }

  get client(): ClientView {
    return this.#inner.client;
  }

  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  get trace(): TraceContext | undefined {
    return this.#inner.trace;
  }

  get task(): Exchange['task'] {
    return this.#inner.task;
  }

  intercept(hooks: Hooks): void {
    (this.#hooks ??= []).push(hooks);
  }

  notify(method: string, params?: JsonObject): void {
    if (!this.#hooks) return this.#inner.notify(method, params);
    let send = (notification: { method: string; params?: JsonObject | undefined }): void =>
      this.#inner.notify(notification.method, notification.params);
    for (const hooks of this.#hooks) {
      const next = send;
      if (hooks.notify) send = (notification) => hooks.notify!(notification, next);
    }
    send({ method, params });
  }

  progress(progress: Progress): void {
    if (!this.#hooks) return this.#inner.progress(progress);
    let send = (value: Progress): void => this.#inner.progress(value);
    for (const hooks of this.#hooks) {
      const next = send;
      if (hooks.progress) send = (value) => hooks.progress!(value, next);
    }
    send(progress);
  }

  log(entry: LogEntry): void {
    if (!this.#hooks) return this.#inner.log(entry);
    let send = (value: LogEntry): void => this.#inner.log(value);
    for (const hooks of this.#hooks) {
      const next = send;
      if (hooks.log) send = (value) => hooks.log!(value, next);
    }
    send(entry);
  }

  canAsk(ask: Ask): boolean {
    return this.#inner.canAsk(ask);
  }

  ask(ask: Ask): Promise<JsonObject> {
    if (!this.#hooks) return this.#inner.ask(ask);
    let put = (value: Ask): Promise<JsonObject> => this.#inner.ask(value);
    for (const hooks of this.#hooks) {
      const next = put;
      if (hooks.ask) put = (value) => hooks.ask!(value, next);
    }
    return put(ask);
  }

  releaseStream(retryMs: number): void {
    this.#inner.releaseStream(retryMs);
  }
}
