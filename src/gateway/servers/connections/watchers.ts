// The clients that watch a server: which of them are present, and which receive a notification that the server sends on its own. An HTTP client that
// disappears keeps its session for a while: it still watches, but it is not present.
// 1. A notification on a connection goes to the clients of that connection.
// 2. On stdio every connection is a process. A stateless client may be served by several, so it hears of changed lists from all of
//    them. Any other server notifies each connection itself.
// 3. A notification that may be private and names no call (a log message, a custom notification, a completed page visit) reaches
//    a client only if it is alone on the connection: no other client listens there or has used it since it was opened.
import type { ClientView } from '../../../kernel/exchange.ts';
import type { Change, Watcher } from '../../../kernel/target.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

interface Watch {
  listener: (change: Change) => void;
  watcher: Watcher | undefined;
}

export class Watchers {
  readonly #homeOf: (client: ClientView) => UpstreamConnection | undefined;
  /** By client; undefined: listeners that are not clients. */
  readonly #watches = new Map<ClientView | undefined, Set<Watch>>();
  readonly #left = new WeakSet<ClientView>();

  constructor(homeOf: (client: ClientView) => UpstreamConnection | undefined) {
    this.#homeOf = homeOf;
  }

  /** Returns a function that removes it. */
  add(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const client = watcher?.client;
    const watch: Watch = { listener, watcher };
    const watches = this.#watches.get(client) ?? new Set();
    this.#watches.set(client, watches.add(watch));
    if (client) this.#left.delete(client);
    return () => {
      if (!watches.delete(watch) || watches.size > 0) return;
      this.#watches.delete(client);
      if (client) this.#left.add(client);
    };
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  has(client: ClientView): boolean {
    return this.#watches.has(client);
  }

  /** A call that was under way may still ask for a connection. Nobody but that call would ever close it. */
  hasLeft(client: ClientView): boolean {
    return this.#left.has(client);
  }

  isPresent(client: ClientView): boolean {
    return [...(this.#watches.get(client) ?? [])].some(({ watcher }) => watcher?.isPresent?.() ?? true);
  }

  isAnyPresent(test: (client: ClientView) => boolean): boolean {
    return this.#clients.some((client) => test(client) && this.isPresent(client));
  }

  /** The only client; undefined if there are several. */
  get sole(): ClientView | undefined {
    const clients = this.#clients;
    return clients.length === 1 ? clients[0] : undefined;
  }

  /** Asks a client outside of its requests; undefined where its era has no such questions. */
  askOf(client: ClientView): Watcher['ask'] {
    const { watcher } =
      [...(this.#watches.get(client) ?? [])].findLast((one) => one.watcher && 'ask' in one.watcher) ?? {};
    return watcher && ((ask, signal) => watcher.ask!(ask, signal));
  }

  /** The clients of this connection. */
  clientsAt(connection: UpstreamConnection): ClientView[] {
    return this.#clients.filter((client) => this.#homeOf(client) === connection);
  }

  /** `isProcess`: the connection leads to its own process. */
  tell(connection: UpstreamConnection, change: Change, isProcess: boolean): void {
    const { kind } = change;
    const isList = isProcess && (kind === 'tools' || kind === 'prompts' || kind === 'resources');
    const isHeard = (client: ClientView): boolean =>
      this.#homeOf(client) === connection || (isList && isAlsoServed(client, connection));
    const clients = new Set(this.#clients.filter(isHeard));
    if (kind === 'log' || kind === 'notification' || kind === 'elicited') {
      if (clients.size > 1 || [...clients].some((client) => !connection.users.isAlone(client))) return;
    }
    this.tellAll(change, (client) => !client || clients.has(client));
  }

  /** For changes that name their recipient. */
  tellAll(change: Change, test: (client: ClientView | undefined) => boolean = () => true): void {
    const heard = [...this.#watches].filter(([client]) => test(client));
    for (const { listener } of heard.flatMap(([, watches]) => [...watches])) listener(change);
  }

  get #clients(): ClientView[] {
    return [...this.#watches.keys()].filter((client) => client !== undefined);
  }
}

function isAlsoServed(client: ClientView, { principal }: UpstreamConnection): boolean {
  return !client.era.hasSession && (principal === undefined || principal === client.principal);
}
