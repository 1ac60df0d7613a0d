// To whom a question goes that came on a connection and names no call. The calls that may ask on one connection all belong to
// one client, so the latest of them leads to the right person. Without a call in flight it is a question to the client
// itself, where its era knows such; a client that is about to come is waited for.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';

export type Put = (ask: Ask, signal?: AbortSignal) => Promise<JsonObject>;

export class AskRouting {
  readonly #calls = new Set<Put>();
  readonly #waiting = new Set<() => void>();
  #client: Put | undefined;
  /** Somebody will attend who can be asked outside of calls. */
  #isExpecting: boolean;

  constructor(isExpecting: boolean) {
    this.#isExpecting = isExpecting;
  }

  get isFree(): boolean {
    return this.#calls.size === 0;
  }

  /** A call is in flight that may ask; the returned function says that it has ended. */
  enter(put: Put): () => void {
    this.#calls.add(put);
    return () => void this.#calls.delete(put);
  }

  /** The client is there, and answers what belongs to no call of it. */
  attend(client: Put): void {
    this.#client = client;
    this.#decide();
  }

  /** Nobody will attend, now or any more. */
  dismiss(): void {
    this.#client = undefined;
    this.#decide();
  }

  async put(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const put = [...this.#calls].at(-1) ?? this.#client;
    if (put) return put(ask, signal);
    if (!this.#isExpecting || signal?.aborted) throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method });
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.put(ask, signal);
  }

  #decide(): void {
    this.#isExpecting = false;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
