// Messages for a client that listens on nothing at the moment. Bounded in number and in size: the oldest are dropped, and
// the log says so.
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

  /** Everything that waits, oldest first; nothing waits afterwards. */
  take(): string[] {
    this.#bytes = 0;
    return this.#texts.splice(0);
  }
}
