// Counts large messages on a connection that both sides share against the byte budget of the process, from their arrival to their answer, as bodies
// of HTTP requests count (http/read-request.ts).
import type { Message } from '../../protocol/message.ts';
import { HeldShare } from '../../shared/held-bytes.ts';
import type { HeldShareOptions } from '../../shared/held-bytes.ts';
import type { Outlet } from '../dialect/serve/served-exchange.ts';

/** When a message is read, there are its bytes, its text, and what is made of it. */
export const ARRIVING_COPIES = 3;

export class HeldMessages {
  readonly #options: HeldShareOptions;
  readonly #open = new Set<HeldShare>();

  constructor(options: Pick<HeldShareOptions, 'owner' | 'maxBytes'>) {
    this.#options = { ...options, cut: () => {} }; // the message is refused, and nothing else has it yet
  }

  /** The outlet, which from now on gives the room back with the answer. Undefined if there is no room for the message. */
  hold(bytes: number, outlet: Outlet): Outlet | undefined {
    const holding = new HeldShare({ ...this.#options });
    if (!holding.set(bytes * ARRIVING_COPIES)) return undefined;
    holding.keep();
    holding.set(bytes);
    this.#open.add(holding);
    return {
      send: (message) => outlet.send(message),
      end: (answer?: Message | Message[], status?: number) => {
        this.#release(holding);
        outlet.end(answer, status);
      },
      release: (retryMs) => outlet.release(retryMs),
    };
  }

  releaseAll(): void {
    for (const holding of this.#open) this.#release(holding);
  }

  #release(holding: HeldShare): void {
    this.#open.delete(holding);
    holding.release();
  }
}
