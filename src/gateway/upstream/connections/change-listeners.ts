// Decides which clients receive a notification that a server sends on its own.
// 1. A notification on a connection goes to the clients of that connection.
// 2. On stdio every connection is a process. A stateless client may be served by several, so it hears of changed lists from all of
//    them. Any other server notifies each connection itself.
// 3. A notification that may be private and names no call (a log message, a custom notification, a completed page visit) reaches
//    a client only if it is alone on the connection: no other client listens there or has used it since it was opened.
import type { ClientView } from '../../../protocol/exchange.ts';
import type { Change } from '../../../protocol/target.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

interface ChangeListener {
  listener: (change: Change) => void;
  client: ClientView | undefined;
}

export class ChangeListeners {
  readonly #homeOf: (client: ClientView) => UpstreamConnection | undefined;
  readonly #all = new Set<ChangeListener>();

  constructor(homeOf: (client: ClientView) => UpstreamConnection | undefined) {
    this.#homeOf = homeOf;
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  has(client: ClientView): boolean {
    return [...this.#all].some((one) => one.client === client);
  }

  add(listener: (change: Change) => void, client: ClientView | undefined): () => void {
    const listening = { listener, client };
    this.#all.add(listening);
    return () => void this.#all.delete(listening);
  }

  /** The clients of this connection. */
  clientsAt(connection: UpstreamConnection): ClientView[] {
    return [...this.#all].flatMap((one) => (one.client && this.#isAt(one, connection) ? [one.client] : []));
  }

  /** `isProcess`: the connection leads to its own process. */
  tell(connection: UpstreamConnection, change: Change, isProcess: boolean): void {
    const isList = change.kind === 'tools' || change.kind === 'prompts' || change.kind === 'resources';
    const heard = [...this.#all].filter(
      (one) => this.#isAt(one, connection) || (isList && isProcess && isAlsoServed(one, connection)),
    );
    if (isPrivate(change)) {
      const clients = new Set(heard.flatMap(({ client }) => client ?? []));
      if (clients.size > 1 || [...clients].some((client) => !connection.users.isAlone(client))) return;
    }
    for (const { listener } of heard) listener(change);
  }

  /** For changes that name their recipient. */
  tellAll(change: Change, test: (client: ClientView | undefined) => boolean = () => true): void {
    for (const { listener, client } of this.#all) if (test(client)) listener(change);
  }

  #isAt({ client }: ChangeListener, connection: UpstreamConnection): boolean {
    return client === undefined || this.#homeOf(client) === connection;
  }
}

function isPrivate({ kind }: Change): boolean {
  return kind === 'log' || kind === 'notification' || kind === 'elicited';
}

function isAlsoServed({ client }: ChangeListener, { principal }: UpstreamConnection): boolean {
  return client?.dialect === 'stateless' && (principal === undefined || principal === client.principal);
}
