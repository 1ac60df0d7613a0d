// Queues messages for a client that has no open stream. Bounded in number and size: the oldest are dropped and logged.
import { HeldShare, UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';

export class OutgoingQueue {
  readonly #context: ServeContext;
  #texts: string[] = [];
  #bytes = 0;
  #holding: HeldShare | undefined;
  readonly #owner: string;

  /** `owner`: whose session it is. */
  constructor(context: ServeContext, owner: string) {
    this.#context = context;
    this.#owner = owner;
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
    this.#hold();
  }

  #hold(): void {
    if (!this.#holding && this.#bytes <= UNCOUNTED_BYTES) return;
    const cut = (): void => {
      this.#context.log.warn({ limit: 'maxHeldBytes', count: this.take().length }, 'message.dropped');
    };
    this.#holding ??= new HeldShare({ owner: this.#owner, maxBytes: this.#context.limits.maxHeldBytes, cut });
    this.#holding.set(this.#bytes);
  }

  /** Removes and returns all waiting messages, oldest first. */
  take(): string[] {
    this.#bytes = 0;
    this.#holding?.release();
    this.#holding = undefined;
    return this.#texts.splice(0);
  }
}
