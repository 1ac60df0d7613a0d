// Which clients of a server on stdio have a process of their own. All of them share one, also those that can be asked, until the server asks:
// 1. Who calls a tool that is known to ask people moves to a process of their own, for good, and without the state that the shared one has.
// 2. A server that asks for roots works in them, so clients that declare roots have their own from the start. Whether it does is known once it was
//    opened for such a client and has answered a ping: it asks as soon as it is initialized.
// 3. A server of MCP Flow asks between calls, so its clients have their own from the start.
// 4. A server that declares logging says of no message which call it is about, so clients that can be asked have their own.
// Until a client has moved, its questions are attributed as on every shared connection (questions/ask-routing.ts): refused where they are not clearly its own.
// So that this is rare, what has not been called before is called alone (first-calls.ts).
import type { ClientOpening } from '../../../kernel/target.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import { flowOf } from '../../../kernel/interaction.ts';
import { PING_PEER } from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { signatureOf } from './connection-signature.ts';

/** Stateless clients are known by principal and capabilities, which peers choose. */
const MAX_REMEMBERED = 10_000;

export class QuietSharing {
  /** The server has asked a client for its roots. */
  #asksForRoots = false;
  /** It was opened for a client with roots, and did not ask for them. */
  #leavesRoots = false;
  #probe: Promise<void> | undefined;
  readonly #moved = new WeakSet<ClientView>();
  readonly #movedByKey = new BoundedMap<string, true>(MAX_REMEMBERED);

  noteRootsAsked(): void {
    this.#asksForRoots = true;
  }

  /** Whether such a client has its own connection as long as there is room for it. */
  keepsApart(client: ClientView, server: ServerView | undefined): boolean {
    // Where several share, nothing says whose call a log message is about.
    const logs = server?.capabilities.logging !== undefined;
    return logs || this.mustBeApart(client, server) || this.#hasMoved(client);
  }

  /** Whether such a client gets an error where there is no room for its own connection. */
  mustBeApart(client: ClientOpening, server: ServerView | undefined): boolean {
    if (server && flowOf(server.capabilities)?.interactive === true) return true;
    return this.#mayWantRootsOf(client);
  }

  /** Whether `probe` would tell if such a client must not share. */
  isOpen(client: ClientOpening): boolean {
    return !this.#asksForRoots && this.#mayWantRootsOf(client);
  }

  /** Finds out whether the server asks for roots. Where that fails, the client has its own connection. */
  probe(connection: UpstreamConnection): Promise<void> {
    this.#probe ??= this.#ping(connection)
      .catch(() => {}) // reported to the next request
      .finally(() => (this.#probe = undefined));
    return this.#probe;
  }

  /** Called when a client calls a tool that is known to ask. */
  move(client: ClientView): void {
    if (client.era.hasSession) this.#moved.add(client);
    else this.#movedByKey.set(keyOf(client), true);
  }

  async #ping({ capabilities, hasOurRoots, supervised }: UpstreamConnection): Promise<void> {
    if (!capabilities.roots || hasOurRoots) return;
    await supervised.use(async (connected) => {
      if (!connected.server.era.servesAllByOne) await connected.call({ method: PING_PEER, params: {} });
    });
    this.#leavesRoots = !this.#asksForRoots;
  }

  #mayWantRootsOf({ capabilities }: ClientOpening): boolean {
    return capabilities.roots !== undefined && (this.#asksForRoots || !this.#leavesRoots);
  }

  #hasMoved(client: ClientView): boolean {
    return client.era.hasSession ? this.#moved.has(client) : this.#movedByKey.get(keyOf(client)) === true;
  }
}

function keyOf(client: ClientView): string {
  return `${client.principal} ${signatureOf(client)}`;
}
