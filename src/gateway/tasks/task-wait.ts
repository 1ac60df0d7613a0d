// Waits on an exchange for the end of a task, and asks its client the task's open questions. If several clients wait, each
// question goes to one of them; if that client leaves, to the next.
import { RELATED_TASK_KEY } from '../../protocol/target.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { toError } from '../../shared/to-error.ts';
import type { OpenAsk, Task } from './task.ts';

/** Rejects with CANCELLED if the exchange ends before the task. */
export function waitForTask(task: Task, exchange: Exchange): Promise<void> {
  return new Promise((resolve, reject) => new Waiter(task, exchange, { resolve, reject }).start());
}

/** Questions that a client is being asked. */
const taken = new WeakSet<OpenAsk>();

class Waiter {
  readonly #task: Task;
  readonly #exchange: Exchange;
  readonly #settle: { resolve: () => void; reject: (error: Error) => void };
  readonly #mine = new Set<OpenAsk>();
  #stopWatching: () => void = () => undefined;

  constructor(task: Task, exchange: Exchange, settle: { resolve: () => void; reject: (error: Error) => void }) {
    this.#task = task;
    this.#exchange = exchange;
    this.#settle = settle;
  }

  start(): void {
    const { signal } = this.#exchange;
    const stop = this.#task.watch(() => this.#look());
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#stopWatching = () => {
      stop();
      signal.removeEventListener('abort', this.#onAbort);
    };
    if (signal.aborted) this.#onAbort();
    else this.#look();
  }

  #onAbort = (): void => this.#giveUp(new GatewayError('CANCELLED'));

  #look(): void {
    if (this.#task.isOver) {
      this.#stopWatching();
      this.#settle.resolve();
      return;
    }
    for (const open of this.#task.openAsks) {
      if (!taken.has(open) && this.#exchange.canAsk(open.ask)) void this.#forward(open);
    }
  }

  async #forward(open: OpenAsk): Promise<void> {
    taken.add(open);
    this.#mine.add(open);
    try {
      const ask = { ...open.ask, key: open.key, params: this.#toParams(open) };
      const answer = await this.#exchange.ask(ask, AbortSignal.any([open.closed, this.#exchange.signal]));
      this.#task.answer(open.key, answer);
    } catch (thrown) {
      if (open.closed.aborted) return; // the question was withdrawn, or another client has answered it
      const error = toError(thrown);
      // The waiting client has left, which says nothing about the question.
      if (error.code === 'CANCELLED') this.#giveUp(error);
      else this.#task.refuse(open.key, error);
    }
  }

  #giveUp(error: Error): void {
    this.#stopWatching();
    this.#settle.reject(error);
    for (const open of this.#mine) taken.delete(open);
    this.#mine.clear();
    this.#task.wake();
  }

  #toParams({ ask }: OpenAsk): JsonObject {
    const meta = {
      ...(ask.params?.['_meta'] as JsonObject | undefined),
      [RELATED_TASK_KEY]: { taskId: this.#task.id },
    };
    return { ...ask.params, _meta: meta };
  }
}
