// A request about a task on its way to the server that runs it. The server's task id is replaced by the client's, and the other
// way round.
import { RELATED_TASK_KEY } from '../../protocol/target.ts';
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

export class RoutedTaskExchange extends DelegatedExchange {
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

  /** Replaces the task id. */
  published(holder: JsonObject): JsonObject {
    const { _meta: meta, taskId } = holder;
    const related = isObject(meta) && isObject(meta[RELATED_TASK_KEY]) ? meta[RELATED_TASK_KEY] : undefined;
    return {
      ...holder,
      ...(taskId !== undefined && { taskId: this.#publicId }),
      ...(related && {
        _meta: { ...(meta as JsonObject), [RELATED_TASK_KEY]: { ...related, taskId: this.#publicId } },
      }),
    };
  }
}
