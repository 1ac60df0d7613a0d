// Which connection to a server a call goes by.
// 1. A server that is told with each call who calls, and answers on the call itself, has one connection for all.
// 2. So have all clients that cannot be asked: their calls run side by side. Where questions are answered in their place, a call
//    that is known to ask has a connection for itself, and while it is not clear which call asked, new ones go elsewhere.
// 3. A client that can be asked has a connection of its own, on which just its capabilities are declared: its calls, its
//    lists and its changes are those of one server, as if there were no gateway.
//    That can be switched off, for servers that are too dear to be had once per client: then no questions are declared.
// 4. Where one principal may be many clients (the stateless era), the connection is the principal's, per set of
//    capabilities. If the wire cannot say which call asked, a call that may ask has a connection for itself; there are a few
//    of them, and whoever comes later waits.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../protocol/exchange.ts';
import type { Opening } from '../../protocol/target.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { Connection } from './connection.ts';
import { declaredBy, hasOurRoots, signatureOf } from './declared.ts';
import type { Supervised } from './supervised.ts';

export interface ConnectionsOptions {
  open(connection: Connection): Supervised;
  /** `session`: every client has connections of its own, asked or not; `all`: nobody has, and nobody can be asked. */
  share: 'auto' | 'session' | 'all';
  /** What is answered in the place of clients that declare nothing: whoever shares a connection is one of them. */
  assisted?: (() => ClientCapabilities | undefined) | undefined;
  clock: Clock;
  /** How long a call waits for a connection of its own. */
  waitMs: number;
  /** Connections for calls of one principal that must be alone on theirs. */
  maxPool: number;
}

/** Asks what there is before any client does. */
const NOBODY: Opening = { dialect: 'handshake', capabilities: {} };

/** What clients declare is theirs to choose, and a shared connection stays: whoever comes later with more is told of as one without. */
const MAX_SHARED = 32;

interface Pool {
  /** Whose it is, and for which calls. */
  owner: string;
  connections: Connection[];
  waiting: ((connection: Connection) => void)[];
}

export class Connections {
  readonly #options: ConnectionsOptions;
  /** By what their clients declare beside questions: extensions, for example. */
  readonly #shared = new Map<string, Connection>();
  /** The server needs no more than this one. */
  #oneForAll: Connection | undefined;
  readonly #own = new Map<ClientView, Connection>();
  readonly #pools = new Map<string, Pool>();
  /** Opened for a client that was about to come. */
  #unclaimed: { opening: Opening; connection: Connection }[] = [];

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get all(): Connection[] {
    const pooled = [...this.#pools.values()].flatMap(({ connections }) => connections);
    const unclaimed = this.#unclaimed.map(({ connection }) => connection);
    return [...this.#shared.values(), ...this.#own.values(), ...pooled, ...unclaimed];
  }

  /** The one to learn from what the server offers, while nothing is known of it. */
  prepare(opening: Opening | undefined): Connection {
    if (!opening || !this.#needsOwn(opening)) return this.#oneForAll ?? this.#share(opening);
    const known = this.#unclaimed.find((one) => isSame(one.opening, opening));
    if (known) return known.connection;
    const connection = this.#create(opening, '', opening.dialect === 'handshake');
    this.#unclaimed.push({ opening, connection });
    return connection;
  }

  /** It has turned out what the server is. */
  learn(connection: Connection, isOneForAll: boolean): void {
    if (!isOneForAll || this.#oneForAll) return;
    this.#oneForAll = connection;
    connection.principal = undefined;
    // Others that were about to be opened are closed once their calls have ended.
    for (const one of this.all) if (one !== connection) void one.supervised.retire();
    for (const kind of [this.#shared, this.#own, this.#pools]) kind.clear();
    this.#unclaimed = [];
    this.#shared.set('', connection);
  }

  /** The client's own, or the one that it shares: for all that cannot ask. */
  home(client: ClientView): Connection {
    return this.known(client) ?? this.#claim(client);
  }

  /** The same, if it is there already. */
  known(client: ClientView): Connection | undefined {
    if (this.#oneForAll) return this.#oneForAll;
    if (!this.#needsOwn(client)) return this.#shared.get(signatureOf(this.#seen(client)));
    if (client.dialect !== 'stateless') return this.#own.get(client);
    return this.#pools.get(this.#keyOf(client))?.connections[0];
  }

  /** A connection for a call that may ask and must be alone on it; to be given back. */
  take(client: ClientView): Connection | Promise<Connection> {
    const connection = this.home(client);
    const pool = client.dialect === 'stateless' ? this.#pools.get(this.#keyOf(client)) : undefined;
    if (!pool?.connections.includes(connection)) return connection;
    return this.#takeFrom(pool, client);
  }

  /** The same for a client that shares its home with others, and for a call that is known to ask. */
  takeAlone(client: ClientView): Connection | Promise<Connection> {
    const key = this.#keyOf(client, 'alone');
    let pool = this.#pools.get(key);
    if (!pool) this.#pools.set(key, (pool = { owner: ownerOf(client, 'alone'), connections: [], waiting: [] }));
    return this.#takeFrom(pool, client);
  }

  /** A shared connection on which it is clear whose questions are asked. */
  undisputed(client: ClientView, home: Connection): Connection {
    if (!home.isShared || !home.asks.isDisputed || home === this.#oneForAll) return home;
    for (let spare = 1; spare <= this.#options.maxPool; spare++) {
      const connection = this.#share(client, ` ${spare}`);
      if (!connection.asks.isDisputed) return connection;
    }
    return home;
  }

  #takeFrom(pool: Pool, client: ClientView): Connection | Promise<Connection> {
    const free = pool.connections.find((one) => !one.isTaken) ?? this.#grow(pool, client);
    if (!free) return this.#wait(pool);
    free.isTaken = true;
    return free;
  }

  giveBack(connection: Connection): void {
    if (!connection.isTaken) return;
    const pool = [...this.#pools.values()].find(({ connections }) => connections.includes(connection));
    const next = pool?.waiting.shift();
    if (next) next(connection);
    else connection.isTaken = false;
  }

  /** Nobody has used it for long: of a principal that does not come back nothing is kept. */
  forget(connection: Connection): void {
    for (const [key, { connections, waiting }] of this.#pools) {
      if (!connections.includes(connection) || connection.isTaken || waiting.length > 0) continue;
      connections.splice(connections.indexOf(connection), 1);
      if (connections.length === 0) this.#pools.delete(key);
    }
  }

  /** The client is gone, and its own connection with it. */
  drop(client: ClientView): Connection | undefined {
    const connection = this.#own.get(client);
    this.#own.delete(client);
    return connection;
  }

  #needsOwn({ capabilities: { elicitation, sampling, roots } }: Opening): boolean {
    const { share } = this.#options;
    if (this.#oneForAll || share === 'all') return false;
    return share === 'session' || Boolean(elicitation ?? sampling ?? roots);
  }

  /** As the server is told of one that shares its connection. */
  #seen(opening: Opening): Opening {
    const seen = this.#declared(opening);
    if (this.#shared.size < MAX_SHARED || this.#shared.has(signatureOf(seen))) return seen;
    return { ...seen, capabilities: {} };
  }

  #declared(opening: Opening): Opening {
    if (this.#options.share !== 'all') {
      const assisted = opening.assisted ?? this.#options.assisted?.();
      return assisted === opening.assisted ? opening : { ...opening, assisted };
    }
    const { elicitation: _elicitation, sampling: _sampling, roots: _roots, ...others } = opening.capabilities;
    return { dialect: opening.dialect, capabilities: others };
  }

  #share(client: Opening = NOBODY, spare = ''): Connection {
    const opening = this.#seen(client);
    const key = signatureOf(opening) + spare;
    const known = this.#shared.get(key);
    const connection = known ?? this.#create(opening, undefined, false);
    this.#shared.set(key, connection);
    return connection;
  }

  #claim(client: ClientView): Connection {
    if (!this.#needsOwn(client)) return this.#share(client);
    const index = this.#unclaimed.findIndex((one) => isSame(one.opening, client));
    const [prepared] = index === -1 ? [] : this.#unclaimed.splice(index, 1);
    const isHandshake = client.dialect === 'handshake';
    const connection = prepared?.connection ?? this.#create(client, client.principal, isHandshake);
    connection.principal = client.principal;
    const pool = { owner: ownerOf(client), connections: [connection], waiting: [] };
    if (client.dialect === 'stateless') this.#pools.set(this.#keyOf(client), pool);
    else this.#own.set(client, connection);
    return connection;
  }

  /** What is declared is the client's to choose: beyond a few sets of it, a principal has the connections of an earlier one. */
  #keyOf(client: ClientView, use = ''): string {
    const owner = ownerOf(client, use);
    const key = `${owner} ${signatureOf(client)}`;
    if (this.#pools.has(key)) return key;
    const known = [...this.#pools].filter(([, pool]) => pool.owner === owner);
    return known.length < this.#options.maxPool ? key : known[0]![0];
  }

  #grow({ connections }: Pool, client: ClientView): Connection | undefined {
    if (connections.length >= this.#options.maxPool) return undefined;
    const connection = this.#create(client, client.principal, false);
    connections.push(connection);
    return connection;
  }

  #wait(pool: Pool): Promise<Connection> {
    const { clock, waitMs } = this.#options;
    return new Promise((resolve, reject) => {
      const stop = clock.after(waitMs, () => {
        pool.waiting.splice(pool.waiting.indexOf(next), 1);
        reject(new GatewayError('TOO_MANY', { what: 'interactive calls at once', limit: 'maxPool' }));
      });
      const next = (connection: Connection): void => {
        stop();
        resolve(connection);
      };
      pool.waiting.push(next);
    });
  }

  #create(opening: Opening | undefined, principal: string | undefined, isExpecting: boolean): Connection {
    const { clock } = this.#options;
    const declared = { capabilities: opening ? declaredBy(opening) : {}, hasOurRoots: hasOurRoots(opening) };
    const options = { ...declared, principal, isExpecting, clock };
    return new Connection(options, (connection) => this.#options.open(connection));
  }
}

function ownerOf({ principal }: ClientView, use = ''): string {
  return `${use} ${principal}`;
}

function isSame(one: Opening, other: Opening): boolean {
  const sameKind = (one.dialect === 'stateless') === (other.dialect === 'stateless');
  return sameKind && signatureOf(one) === signatureOf(other);
}
