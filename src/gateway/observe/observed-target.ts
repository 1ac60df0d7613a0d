// A target that is watched at work: everything is the target's own, and `handle` can be seen from outside.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import type { Change, Opening, Target, Watcher } from '../../protocol/target.ts';

export type Answer = Promise<ResultObject> | ResultObject;
export type Handle = (exchange: Exchange) => Answer;

export class ObservedTarget implements Target {
  readonly #target: Target;
  readonly #around: (exchange: Exchange, handle: Handle) => Answer;
  readonly #onWatch: ((watcher: Watcher) => () => void) | undefined;
  readonly #handle: Handle;

  /** `around` gets each exchange and what handles it; `onWatch` each client that wants to be told of changes. */
  constructor(
    target: Target,
    around: (exchange: Exchange, handle: Handle) => Answer,
    onWatch?: (watcher: Watcher) => () => void,
  ) {
    this.#target = target;
    this.#around = around;
    this.#onWatch = onWatch;
    this.#handle = (exchange) => target.handle(exchange);
  }

  handle(exchange: Exchange): Answer {
    return this.#around(exchange, this.#handle);
  }

  get info(): Implementation {
    return this.#target.info;
  }

  get instructions(): string | undefined {
    return this.#target.instructions;
  }

  capabilities(client: ClientView): ServerCapabilities {
    return this.#target.capabilities(client);
  }

  async ready(opening?: Opening): Promise<void> {
    await this.#target.ready?.(opening);
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const unwatch = this.#target.watch(listener, watcher);
    const leave = watcher && this.#onWatch?.(watcher);
    return () => {
      unwatch();
      leave?.();
    };
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.#target.subscribe?.(uri, client);
  }

  async followTask(taskId: string, client: ClientView): Promise<void> {
    await this.#target.followTask?.(taskId, client);
  }

  notify(notification: NotificationMessage, client: ClientView): void {
    this.#target.notify?.(notification, client);
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#target.inputSchema?.(tool, client);
  }
}

/** Tells how it ends, without adding a turn to it. `failed` and `ended` must not throw. */
export function follow(
  run: () => Answer,
  ended: (result: ResultObject) => void,
  failed: (thrown: unknown) => void,
): Answer {
  let answer: Answer;
  try {
    answer = run();
  } catch (thrown) {
    failed(thrown);
    throw thrown;
  }
  if (answer instanceof Promise) answer.then(ended, failed);
  else ended(answer);
  return answer;
}
