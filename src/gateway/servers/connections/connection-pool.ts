// All connections to a server, in one pool per era. A server that speaks both eras is addressed in the era of each client, so
// nothing needs translation. The first client of an era reveals whether the server speaks it; if not, the clients of that era use
// the connections of the other one.
import type { SpokenEra } from '../../../kernel/era/era.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { ClientOpening } from '../../../kernel/target.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import { READ_RESOURCE, methodsWhere } from '../../../kernel/methods.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { ANYBODY } from '../../../mcp/eras/own-clients.ts';
import { onlyEraOf } from '../../../mcp/eras/revisions.ts';
import type { OnlyRevision } from '../../../mcp/eras/revisions.ts';
import type { KnownServer } from '../known-server.ts';
import type { Link } from '../../../mcp/connect/links/link.ts';
import { CallHabits, subjectOf } from '../questions/open-call.ts';
import { TaskOwners } from '../tasks/task-owners.ts';
import { QuietSharing } from './quiet-sharing.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { signatureOf } from './connection-signature.ts';
import { EraPool } from './era-pool.ts';
import type { EraPoolOptions } from './era-pool.ts';

export interface ConnectionPoolOptions extends Omit<EraPoolOptions, 'isOnly' | 'quiet'> {
  /** The only era to speak, if one is configured. */
  onlyRevision?: OnlyRevision | undefined;
}

/** Methods that never ask the client and do not depend on its earlier requests. */
const LISTING: ReadonlySet<string> = new Set(methodsWhere(({ alone }) => alone));

export class ConnectionPool {
  /** By the era of the client; the same pool twice if the server speaks one era. */
  readonly #pools: Record<SpokenEra, EraPool>;
  /** Which calls to the server ask. */
  readonly habits: CallHabits = new CallHabits();
  readonly taskOwners: TaskOwners = new TaskOwners();
  /** Which clients share it while it asks nothing. */
  readonly quiet: QuietSharing = new QuietSharing();
  /** The first client (stateless: its principal and capabilities) while no other has come. */
  #only: ClientOpening | string | undefined;
  #isMany = false;
  readonly #hasRoom: NonNullable<EraPoolOptions['hasRoom']>;

  constructor(options: ConnectionPoolOptions) {
    this.#hasRoom = options.hasRoom ?? (() => true);
    const toPool = (era: SpokenEra): EraPool =>
      new EraPool(era, { ...options, quiet: this.quiet, isOnly: (client) => this.isOnly(client) });
    const era = onlyEraOf(options.onlyRevision ?? {});
    const only = era && toPool(era);
    this.#pools = { handshake: only ?? toPool('handshake'), stateless: only ?? toPool('stateless') };
  }

  get all(): UpstreamConnection[] {
    const { handshake, stateless } = this.#pools;
    return handshake === stateless ? handshake.all : [...handshake.all, ...stateless.all];
  }

  /** The era spoken with the server on behalf of this client, as far as it is known. */
  eraFor(client: Pick<ClientView, 'era'>): SpokenEra {
    return this.#of(client).era;
  }

  /** The server as this client sees it. */
  serverFor(client: Pick<ClientView, 'era'>): KnownServer {
    return this.#of(client).server;
  }

  /** The server as any client sees it; undefined until it was opened. */
  get view(): ServerView | undefined {
    return this.#pools.handshake.server.view ?? this.#pools.stateless.server.view;
  }

  /** The server behind a connection. */
  serverOf({ era }: UpstreamConnection): KnownServer {
    return this.#pools[era].server;
  }

  /** The connection that shows what the server offers to such a client. */
  prepare(opening: ClientOpening | undefined): UpstreamConnection {
    const isExpecting = this.#only === undefined && !this.#isMany;
    return this.#of(opening ?? ANYBODY).prepare(opening, isExpecting);
  }

  /** Called when the era of a connection is known; merges the pools of a server that speaks only one. */
  learn(connection: UpstreamConnection, { era: { spokenAs: spoken, servesAllByOne } }: Pick<ServerView, 'era'>): void {
    const wanted = connection.era;
    const pool = this.#pools[spoken];
    if (this.#pools[wanted] !== pool) {
      pool.absorb(this.#pools[wanted]);
      this.#pools[wanted] = pool;
    }
    connection.era = pool.era = spoken;
    // If the pool already has such a connection, it is about to close this one.
    if (servesAllByOne && pool.all.includes(connection)) pool.serveAllBy(connection);
  }

  /** The connection for a request. */
  homeOf({ method, client }: Pick<Exchange, 'method' | 'client'>): UpstreamConnection {
    const { oneForAll } = this.#of(client);
    if (oneForAll?.hasServedCalls) return oneForAll;
    return LISTING.has(method) ? this.listing(client) : this.home(client);
  }

  /** Finds out which connection a request is for; undefined if that is known. */
  settle({ method, client }: Pick<Exchange, 'method' | 'client'>): Promise<void> | undefined {
    return !client.capabilities.roots || LISTING.has(method) ? undefined : this.#noting(client).settle(client);
  }

  listing(client: ClientView): UpstreamConnection {
    return this.#noting(client).listing(client);
  }

  home(client: ClientView): UpstreamConnection {
    return this.#noting(client).home(client);
  }

  known(client: ClientView): UpstreamConnection | undefined {
    return this.#of(client).known(client);
  }

  /** The connection on which the task of a request runs; undefined if that is unknown. */
  placeOfTask({ params: { taskId }, client }: Exchange, home: UpstreamConnection): UpstreamConnection | undefined {
    const connection = this.taskOwners.connectionOf(taskId, client);
    const isForeign = this.taskOwners.isForeign(taskId, client, connection ?? home);
    if (isForeign) throw new GatewayError('TASK_NOT_FOUND', { taskId });
    return connection;
  }

  /**
   * The connection for a call during which the server may ask. Calls share a connection and run side by side there, except those that
   * are known to ask.
   */
  placeFor(
    exchange: Exchange,
    home: UpstreamConnection,
    transport: Link['kind'],
  ): UpstreamConnection | Promise<UpstreamConnection> {
    const { client, expectsQuestions } = exchange;
    // On HTTP a question arrives on the stream of its call, unless the server has been seen to ignore that.
    const isNamed = transport === 'streamable-http' && !this.habits.asksUnnamed;
    // On a client's own connection a call is alone unless the client makes another one.
    const isWatched = !isNamed && client.assisted?.elicitation && (home.isShared || !home.asks.isFree);
    if (isWatched && (expectsQuestions || this.habits.asks(subjectOf(exchange)))) return this.takeAlone(client);
    if (home.isShared && this.habits.asks(subjectOf(exchange)) && this.#of(client).moves(client)) {
      return this.take(client);
    }
    if (home.isShared) return this.#shareWith(exchange, home, transport);
    return isNamed ? home : this.take(client, this.habits.isQuiet(subjectOf(exchange)));
  }

  #shareWith(
    exchange: Exchange,
    home: UpstreamConnection,
    transport: Link['kind'],
  ): UpstreamConnection | Promise<UpstreamConnection> {
    const { client, method } = exchange;
    const shared = this.sharedWithoutQuestions(client, home);
    // There may be any number of resources, and hardly one asks.
    const mayBeFirst = method !== READ_RESOURCE && this.#of(client).sharesUntilAsked(client);
    const isFirst = mayBeFirst && !this.habits.isQuiet(subjectOf(exchange));
    const turn = isFirst ? shared.firstCalls.begin(exchange) : undefined;
    return turn ? turn.then(() => this.placeFor(exchange, this.homeOf(exchange), transport)) : shared;
  }

  take(client: ClientView, isQuiet?: boolean): UpstreamConnection | Promise<UpstreamConnection> {
    return this.#of(client).take(client, isQuiet);
  }

  takeAlone(client: ClientView): UpstreamConnection | Promise<UpstreamConnection> {
    return this.#of(client).takeAlone(client);
  }

  sharedWithoutQuestions(client: ClientView, home: UpstreamConnection): UpstreamConnection {
    return this.#of(client).sharedWithoutQuestions(client, home);
  }

  giveBack(connection: UpstreamConnection): void {
    this.#pools[connection.era].giveBack(connection);
  }

  forget(connection: UpstreamConnection): void {
    this.#pools[connection.era].forget(connection);
  }

  drop(client: ClientView): UpstreamConnection | undefined {
    return this.#of(client).drop(client);
  }

  isOnly(client: ClientOpening): boolean {
    return !this.#isMany && this.#isSame(client);
  }

  /** If no process is left for the era of a stateless client, it shares a handshake connection: it has no session to lose. */
  #of({ era }: Pick<ClientView, 'era'>): EraPool {
    const { handshake, stateless } = this.#pools;
    if (era.hasSession) return handshake;
    if (stateless === handshake || stateless.shared || !handshake.shared) return stateless;
    return this.#hasRoom({ isShared: true, mayReplace: true }) ? stateless : handshake;
  }

  /** The pool of a client, which may be the only one so far. */
  #noting(client: ClientView): EraPool {
    const pool = this.#of(client);
    if (pool.oneForAll || this.#isMany || this.#isSame(client)) return pool;
    if (this.#only === undefined) this.#only = keyOf(client);
    else this.#isMany = true;
    return pool;
  }

  #isSame(client: ClientOpening): boolean {
    return this.#only !== undefined && this.#only === keyOf(client);
  }
}

/** Each stateless request creates its own client object, so the key is made of its principal and capabilities. */
function keyOf(client: ClientOpening & { principal?: string }): ClientOpening | string {
  return client.era.hasSession ? client : `${client.principal} ${signatureOf(client)}`;
}
