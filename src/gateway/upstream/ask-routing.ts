// To whom a question goes that came on a connection and names no call. The calls of one connection all belong to one client
// that can be asked, so any of them leads to the right person; without a call in flight there is nobody to ask.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';

type Put = (ask: Ask) => Promise<JsonObject>;

export class AskRouting {
  readonly #calls = new Set<Put>();

  get isFree(): boolean {
    return this.#calls.size === 0;
  }

  /** A call is in flight; the returned function says that it has ended. */
  enter(put: Put): () => void {
    this.#calls.add(put);
    return () => void this.#calls.delete(put);
  }

  put(ask: Ask): Promise<JsonObject> {
    const latest = [...this.#calls].at(-1);
    return latest?.(ask) ?? Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method }));
  }
}
