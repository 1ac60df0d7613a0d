// To whom a question goes that came on a connection and names no call.
// 1. Calls of one client all lead to the right person: the latest is taken; if it ends before the answer it was another one.
// 2. If there are calls of several clients, nobody is asked: who it is for would be guessed.
// 3. Without a call in flight it is a question to the client itself, where its era knows such; a client that is about to come
//    is waited for.
import type { Ask, ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';

export type Put = (ask: Ask, signal?: AbortSignal) => Promise<JsonObject>;

export class AskRouting {
  readonly #calls = new Map<Put, ClientView>();
  readonly #waiting = new Set<() => void>();
  #client: Put | undefined;
  /** Somebody will attend who can be asked outside of calls. */
  #isExpecting: boolean;

  constructor(isExpecting: boolean) {
    this.#isExpecting = isExpecting;
  }

  /** The server has asked without saying for which call, though the wire could have told. */
  areUnnamed = false;

  /** A call is in flight that may ask; the returned function says that it has ended. */
  enter(put: Put, client: ClientView): () => void {
    this.#calls.set(put, client);
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
    const [call, isCertain] = this.#latest();
    if (call) {
      this.areUnnamed = true;
      if (!isCertain) throw cannotBeAsked(ask);
      return this.#ask(call, ask, signal);
    }
    if (this.#client) return this.#client(ask, signal);
    if (!this.#isExpecting || signal?.aborted) throw cannotBeAsked(ask);
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.put(ask, signal);
  }

  #latest(): [Put | undefined, boolean] {
    const clients = new Set(this.#calls.values());
    return [[...this.#calls.keys()].at(-1), clients.size === 1];
  }

  async #ask(call: Put, ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    try {
      return await call(ask, signal);
    } catch (thrown) {
      const isCalledOff = thrown instanceof GatewayError && thrown.code === 'CANCELLED' && !signal?.aborted;
      const isWrongCall = isCalledOff && !this.#calls.has(call);
      if (!isWrongCall || (this.#calls.size === 0 && !this.#client)) throw thrown;
      return this.put(ask, signal);
    }
  }

  #decide(): void {
    this.#isExpecting = false;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function cannotBeAsked({ method }: Ask): GatewayError {
  return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: method });
}
