// Queues messages for a client that has no open stream. Bounded in number and size: the oldest are dropped and logged.
import type { ServeContext } from '../../dialect/serve/serve-context.ts';

export class OutgoingQueue {
  readonly #context: ServeContext;
  #texts: string[] = [];
  #bytes = 0;

  constructor(context: ServeContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#texts.length;
  }

  push(text: string): void {
    const { maxQueued, maxBufferedBytes } = this.#context.limits;
    this.#texts.push(text);
    this.#bytes += text.length;
    while (this.#texts.length > maxQueued || (this.#bytes > maxBufferedBytes && this.#texts.length > 1)) {
      this.#bytes -= this.#texts.shift()!.length;
      this.#context.log.warn({ limit: 'maxQueued' }, 'message.dropped');
    }
  }

  /** Removes and returns all waiting messages, oldest first. */
  take(): string[] {
    this.#bytes = 0;
    return this.#texts.splice(0);
  }
}
