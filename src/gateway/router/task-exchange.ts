// A request about a task, on its way to the server that runs it. What the server asks names the task by the server's id;
// the client knows it by another one.
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export class TaskExchange extends DelegatedExchange {
  readonly #publicId: unknown;
  #params: JsonObject;

  constructor(inner: Exchange, taskId: string) {
    super(inner);
    this.#publicId = inner.params.taskId;
    this.#params = { ...inner.params, taskId };
  }

  override get params(): JsonObject {
    return this.#params;
  }

  override set params(params: JsonObject) {
    this.#params = params;
  }

  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const { params } = ask;
    return this.inner.ask(params ? { ...ask, params: this.published(params) } : ask, signal);
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
