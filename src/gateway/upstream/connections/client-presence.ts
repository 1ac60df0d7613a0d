// Tracks the clients that watch a server and whether they are still present. An HTTP client that disappears keeps its session for
// a while: it still watches, but it is not present.
import type { ClientView } from '../../../protocol/exchange.ts';
import type { Watcher } from '../../../protocol/target.ts';

export class ClientPresence {
  readonly #watchers = new Map<ClientView, Set<Watcher>>();
  readonly #left = new WeakSet<ClientView>();

  /** Returns a function that removes the watcher. */
  add(watcher: Watcher): () => void {
    const { client } = watcher;
    const watchers = this.#watchers.get(client) ?? new Set();
    this.#watchers.set(client, watchers.add(watcher));
    this.#left.delete(client);
    return () => {
      watchers.delete(watcher);
      if (watchers.size > 0 || this.#watchers.get(client) !== watchers) return;
      this.#watchers.delete(client);
      this.#left.add(client);
    };
  }

  /** A call that was under way may still ask for a connection. Nobody but that call would ever close it. */
  hasLeft(client: ClientView): boolean {
    return this.#left.has(client);
  }

  has(client: ClientView): boolean {
    return this.#watchers.has(client);
  }

  /** Asks a client outside of its requests; undefined where its era has no such questions. */
  askOf(client: ClientView): Watcher['ask'] {
    const watcher = [...(this.#watchers.get(client) ?? [])].findLast((one) => 'ask' in one);
    return watcher && ((ask, signal) => watcher.ask!(ask, signal));
  }

  isPresent(client: ClientView): boolean {
    return [...(this.#watchers.get(client) ?? [])].some((one) => one.isPresent?.() ?? true);
  }

  /** The only client; undefined if there are several. */
  get sole(): ClientView | undefined {
    return this.#watchers.size === 1 ? this.#watchers.keys().next().value : undefined;
  }

  isAnyPresent(test: (client: ClientView) => boolean): boolean {
    return [...this.#watchers.keys()].some((client) => test(client) && this.isPresent(client));
  }
}
