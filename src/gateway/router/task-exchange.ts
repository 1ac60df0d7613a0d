// A request about a task, on its way to the server that runs it. What the server asks names the task by the server's id;
// the client knows it by another one.
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export class TaskExchange implements Exchange {
  readonly id: string;
  readonly method: string;
  readonly client: ClientView;
  readonly trace: Exchange['trace'];
  readonly task: Exchange['task'];
  readonly logLevel: Exchange['logLevel'];
  params: JsonObject;
  readonly #inner: Exchange;
  readonly #publicId: unknown;

  constructor(inner: Exchange, taskId: string) {
    this.id = inner.id;
    this.method = inner.method;
    this.client = inner.client;
    this.trace = inner.trace;
    this.task = inner.task;
    this.logLevel = inner.logLevel;
    this.#inner = inner;
    this.#publicId = inner.params.taskId;
    this.params = { ...inner.params, taskId };
  }

  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  get server(): string | undefined {
    return this.#inner.server;
  }

  set server(server: string | undefined) {
    this.#inner.server = server;
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
    const { params } = ask;
    return this.#inner.ask(params ? { ...ask, params: this.published(params) } : ask, signal);
  }

  releaseStream(retryMs: number): void {
    this.#inner.releaseStream(retryMs);
  }

  /** Names the task by the client's id, wherever it is named. */
  published(holder: JsonObject): JsonObject {
    const { _meta: meta, taskId } = holder;
    const related = isObject(meta) && isObject(meta[RELATED_TASK]) ? meta[RELATED_TASK] : undefined;
    return {
      ...holder,
      ...(taskId !== undefined && { taskId: this.#publicId }),
      ...(related && { _meta: { ...(meta as JsonObject), [RELATED_TASK]: { ...related, taskId: this.#publicId } } }),
    };
  }
}
