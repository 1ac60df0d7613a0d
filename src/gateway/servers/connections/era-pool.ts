// Chooses the connection that a client's request uses, among the connections to a server in one era.
// 1. A server that learns with each call who calls, and asks in its answers, has one connection for all clients.
// 2. Clients that cannot be asked share a connection, and their calls run side by side. Where the gateway answers questions for
//    them, a call that is known to ask gets a connection of its own. A call that may ask avoids a connection with an open question
//    or an abandoned call, and uses a spare one.
// 3. A client that can be asked shares a connection, with all clients that declare the same, only for lists and other requests that
//    cannot ask. Its first other request opens its own connection, which from then on serves everything, so that the client sees the
//    lists and changes of one server. With `share: 'all'` every client shares, and none can be asked. A client's own connection is
//    opened in its name, and so is the one that the first client will take over. All others are opened in the gateway's name.
//    On stdio (`share: 'quiet'`) clients that can be asked share for calls as well, until the server asks: see quiet-sharing.ts.
// 4. In the stateless era one principal may be many clients, so own connections belong to a principal and its set of capabilities.
//    Where the wire does not say which call asks, each call that may ask has a connection to itself. At most `maxPool` calls at work
//    have one; later calls wait. A call with an open question does not count, since its user may take minutes. Calls that are known
//    not to ask, or for which there is no process left, use a shared connection meanwhile.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { ClientOpening } from '../../../kernel/target.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { GatewayError } from '../../../kernel/base/errors.ts';
import type { SpokenEra } from '../../../kernel/era/era.ts';
import { ANYBODY } from '../../../mcp/eras/own-clients.ts';
import { CallGroup } from './call-group.ts';
import { KnownServer } from '../known-server.ts';
import type { QuietSharing } from './quiet-sharing.ts';
import { UpstreamConnection } from './upstream-connection.ts';
import type { UpstreamConnectionOptions } from './upstream-connection.ts';
import {
  declaredCapabilities,
  hasOurRoots,
  namedKeyOf,
  ownerOf,
  toClientIntroduction,
  signatureOf,
  withoutExperiments,
} from './connection-signature.ts';
import type { ClientIntroduction } from '../../../mcp/connect/connected-server.ts';
import type { SupervisedConnection } from './supervised-connection.ts';

export interface EraPoolOptions {
  open(connection: UpstreamConnection): SupervisedConnection;
  /**
   * `session`: every client has its own connections; `all`: clients always share, and none can be asked; `quiet`: as `auto`, but clients that can be
   * asked share until the server asks.
   */
  share: 'auto' | 'quiet' | 'session' | 'all';
  /** Who shares with `quiet`. */
  quiet: QuietSharing;
  /** Capabilities that the gateway provides for clients that declare none. */
  assisted?: (() => ClientCapabilities | undefined) | undefined;
  clock: Clock;
  /** How long a call waits for its own connection. */
  waitMs: number;
  /** The limit of connections for calls of one principal that must be alone; those with an open question do not count. */
  maxPool: number;
  /** Whether this is the only client so far: then it may take over a connection that it has shared with no other. */
  isOnly(client: ClientOpening): boolean;
  /** Whether one more connection may be opened; `mayReplace`: also by closing an unused one. */
  hasRoom?(wanted: { isShared: boolean; mayReplace: boolean }): boolean;
  /** The error where `hasRoom` says no; given with it. */
  noRoom?(): GatewayError;
  onClaim?(connection: UpstreamConnection, client: ClientView): void;
}

/** Clients choose what they declare, so cap shared connections; clients beyond the cap count as declaring nothing. */
const MAX_SHARED = 32;

type ConnectionPurpose = Partial<Pick<UpstreamConnectionOptions, 'principal' | 'introduction' | 'isExpecting'>>;

export class EraPool {
  era: SpokenEra;
  readonly server: KnownServer = new KnownServer();
  readonly #options: EraPoolOptions;
  readonly #shared = new Map<string, UpstreamConnection>();
  /** The connection of all clients, if the server needs no other. */
  oneForAll: UpstreamConnection | undefined;
  readonly #own = new Map<ClientView, UpstreamConnection>();
  readonly #groups = new Map<string, CallGroup>();

  constructor(era: SpokenEra, options: EraPoolOptions) {
    this.era = era;
    this.#options = options;
  }

  get all(): UpstreamConnection[] {
    const grouped = [...this.#groups.values()].flatMap(({ connections }) => connections);
    return [...this.#shared.values(), ...this.#own.values(), ...grouped];
  }

  /** A shared connection that is open or opening. */
  get shared(): UpstreamConnection | undefined {
    for (const one of this.#shared.values()) if (one.supervised.isLive) return one; // runs for every stateless call
    return undefined;
  }

  /** The connection that shows what the server offers. `isExpecting`: the first client is about to come. */
  prepare(opening: ClientOpening | undefined, isExpecting: boolean): UpstreamConnection {
    return this.oneForAll ?? this.#share(opening, '', isExpecting && opening?.era.hasSession === true);
  }

  serveAllBy(connection: UpstreamConnection): void {
    if (this.oneForAll) return;
    const others = this.all.filter((one) => one !== connection);
    this.#clear();
    this.oneForAll = connection;
    connection.serveAll();
    this.#shared.set('', connection);
    for (const one of others) void one.supervised.retire();
  }

  /** Takes over the connections of another pool, and closes those that are not needed once their calls end. */
  absorb(other: EraPool): void {
    const taken = this.oneForAll ? [] : this.#takeMissing(other);
    for (const one of other.all) {
      if (taken.includes(one)) one.era = this.era;
      else void one.supervised.retire();
    }
    other.#clear();
  }

  /** The connection for lists: the client's own if it is open, else the shared one. */
  listing(client: ClientView): UpstreamConnection {
    const known = this.known(client);
    if (known) return known;
    if (this.#options.share === 'session') return this.home(client);
    return this.#share(this.#options.isOnly(client) ? client : withoutExperiments(client));
  }

  /** Finds out whether a client with roots needs its own connection; undefined if that is known. */
  settle(client: ClientView): Promise<void> | undefined {
    const isKnown = !this.#isQuiet || this.#ownOf(client) !== undefined;
    if (isKnown || this.oneForAll || this.#options.isOnly(client)) return undefined;
    return this.#options.quiet.isOpen(client) ? this.#options.quiet.probe(this.listing(client)) : undefined;
  }

  /** Whether it can be asked, and shares with others until it is. */
  sharesUntilAsked({ capabilities: { elicitation, sampling } }: ClientView): boolean {
    return this.#isQuiet && !this.oneForAll && Boolean(elicitation ?? sampling);
  }

  /** Whether a client that shares is to have its own connection for a call that is known to ask; it keeps it. */
  moves(client: ClientView): boolean {
    if (!this.sharesUntilAsked(client)) return false;
    const hasRoom = this.#mayOpenOwn;
    if (hasRoom) this.#options.quiet.move(client);
    // A stateless client goes on sharing. Of one with a session only this call is refused: the others go on as well.
    else if (client.era.hasSession) throw this.#options.noRoom!();
    return hasRoom;
  }

  /** The connection for everything else: the client's own, or the one it shares. */
  home(client: ClientView): UpstreamConnection {
    if (this.#needsOwn(client) && !this.#mustShare(client)) return this.#ownOf(client) ?? this.#claim(client);
    const connection = this.oneForAll ?? this.#share(client);
    if (!connection.hasServedCalls) connection.noteCalls();
    return connection;
  }

  /** The connection that serves the client's lists and changes, if it exists. */
  known(client: ClientView): UpstreamConnection | undefined {
    if (this.oneForAll) return this.oneForAll;
    const own = this.#needsOwn(client) ? this.#ownOf(client) : undefined;
    if (own && (own.supervised.isLive || this.#options.share === 'session')) return own;
    return this.#sharedBy(client)?.[1] ?? own;
  }

  /** A connection for a call that may ask and must be alone; end with `giveBack`. `isQuiet`: it is not known to ask. */
  take(client: ClientView, isQuiet = false): UpstreamConnection | Promise<UpstreamConnection> {
    const connection = this.home(client);
    const group = !client.era.hasSession ? this.#groups.get(this.#keyOf(client)) : undefined;
    if (!group?.connections.includes(connection)) return connection;
    return this.#takeFrom(group, client, isQuiet);
  }

  /** The same for a call that is known to ask, of a client that shares its connection with others. */
  takeAlone(client: ClientView): UpstreamConnection | Promise<UpstreamConnection> {
    const key = this.#keyOf(client, 'alone');
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = new CallGroup(ownerOf(client, 'alone'))));
    return this.#takeFrom(group, client, false);
  }

  /** A shared connection without open questions or abandoned calls; the usual one if no more can be opened. */
  sharedWithoutQuestions(client: ClientView, home: UpstreamConnection): UpstreamConnection {
    if (!home.isShared || home.asks.takesCalls || home === this.oneForAll) return home;
    for (let spare = 1; spare <= this.#options.maxPool; spare++) {
      const connection = this.#share(client, ` ${spare}`);
      if (!connection.asks.takesCalls) continue;
      return connection.supervised.isLive || this.#hasRoom({ isShared: true, mayReplace: true }) ? connection : home;
    }
    return home;
  }

  giveBack(connection: UpstreamConnection): void {
    if (!connection.isTaken) return;
    const group = [...this.#groups.values()].find(({ connections }) => connections.includes(connection));
    const next = group?.waiting.shift();
    if (next) return next(connection);
    connection.isTaken = false;
    const { supervised } = connection;
    // A replaced server lingers for a while. The connection stays known until it is gone, so that there is never more than one.
    if (supervised.state === 'idle' && !supervised.isLingering) this.forget(connection);
  }

  /** Called when an idle connection closes: nothing is kept for a principal that does not return. */
  forget(connection: UpstreamConnection): void {
    for (const [key, one] of this.#shared) {
      if (one === connection && one !== this.oneForAll && one.supervised.isReplaceable) this.#shared.delete(key);
    }
    for (const [key, { connections, waiting }] of this.#groups) {
      if (!connections.includes(connection) || connection.isTaken || waiting.length > 0) continue;
      connections.splice(connections.indexOf(connection), 1);
      if (connections.length === 0) this.#groups.delete(key);
    }
  }

  drop(client: ClientView): UpstreamConnection | undefined {
    const connection = this.#own.get(client);
    this.#own.delete(client);
    const [key, shared] = this.#sharedBy(client) ?? [];
    if (shared?.isUntouched) this.#shared.delete(key!); // their number is limited
    return connection;
  }

  #takeMissing(other: EraPool): UpstreamConnection[] {
    return [
      ...takeMissing(this.#shared, other.#shared),
      ...takeMissing(this.#own, other.#own),
      ...takeMissing(this.#groups, other.#groups).flatMap(({ connections }) => connections),
    ];
  }

  #clear(): void {
    for (const kind of [this.#shared, this.#own, this.#groups]) kind.clear();
  }

  #hasRoom(wanted: { isShared: boolean; mayReplace: boolean }): boolean {
    return this.#options.hasRoom?.(wanted) ?? true;
  }

  #takeFrom(group: CallGroup, client: ClientView, isQuiet: boolean): UpstreamConnection | Promise<UpstreamConnection> {
    const free = this.#freeIn(group) ?? this.#grow(group, client);
    if (free) {
      free.isTaken = true;
      return free;
    }
    const mayShare = this.#options.share !== 'session';
    if (mayShare && (isQuiet || group.countAtWork() < this.#options.maxPool)) return this.#takeShared(client);
    const { clock, waitMs } = this.#options;
    return group.wait(clock, waitMs).then((one) => one ?? this.#takeFrom(group, client, false));
  }

  #freeIn({ connections }: CallGroup): UpstreamConnection | undefined {
    const free = connections.filter((one) => !one.isTaken);
    return free.find(({ supervised }) => supervised.isLive) ?? (this.#mayOpenOwn ? free[0] : undefined);
  }

  /** The call runs beside others: its question is refused if another call might have asked it. */
  #takeShared(client: ClientView): UpstreamConnection {
    const shared = this.#share(client);
    if (!shared.hasServedCalls) shared.noteCalls();
    return this.sharedWithoutQuestions(client, shared);
  }

  /** Where clients never share, the limit is enforced when the connection opens. */
  get #mayOpenOwn(): boolean {
    return this.#options.share === 'session' || this.#hasRoom({ isShared: false, mayReplace: true });
  }

  /** Without a free process a client shares, unless it needs its own server: then it is refused. */
  #mustShare(client: ClientView): boolean {
    const mayShare = this.#isQuiet && !this.#options.quiet.mustBeApart(client, this.server.view);
    return (mayShare || !client.era.hasSession) && !this.#ownOf(client)?.supervised.isLive && !this.#mayOpenOwn;
  }

  get #isQuiet(): boolean {
    return this.#options.share === 'quiet';
  }

  #needsOwn(client: ClientView): boolean {
    if (!this.#mayOwn(client)) return false;
    if (!this.#isQuiet || this.#ownOf(client) || this.#options.isOnly(client)) return true;
    return this.#options.quiet.keepsApart(client, this.server.view);
  }

  /** Whether it may come to need its own connection. */
  #mayOwn({ capabilities: { elicitation, sampling, roots } }: ClientOpening): boolean {
    const { share } = this.#options;
    if (this.oneForAll || share === 'all') return false;
    return share === 'session' || Boolean(elicitation ?? sampling ?? roots);
  }

  /** The declarations sent to the server for a client that shares a connection. */
  #seen(opening: ClientOpening): ClientOpening {
    const seen = this.#declared(opening);
    if (this.#shared.size < MAX_SHARED || this.#shared.has(signatureOf(seen))) return seen;
    return { ...seen, capabilities: {} };
  }

  #declared(opening: ClientOpening): ClientOpening {
    if (this.#options.share !== 'all') {
      const assisted = opening.assisted ?? this.#options.assisted?.();
      return assisted === opening.assisted ? opening : { ...opening, assisted };
    }
    const { elicitation: _elicitation, sampling: _sampling, roots: _roots, ...others } = opening.capabilities;
    return { dialect: opening.dialect, era: opening.era, capabilities: others };
  }

  #share(client: ClientOpening = ANYBODY, spare = '', isExpecting = false): UpstreamConnection {
    const opening = this.#seen(client);
    const introduction = this.#introductionOf(client);
    const named = introduction && namedKeyOf(opening, introduction);
    const isNamed = named !== undefined && (this.#shared.has(named) || isExpecting || this.#options.isOnly(client));
    const key = (isNamed ? named : signatureOf(opening)) + spare;
    const known = this.#shared.get(key);
    // If no process is left, the offers made to other clients are better than an error.
    const isFull = !spare && !known?.supervised.isLive && !this.#hasRoom({ isShared: true, mayReplace: false });
    const found = (isFull ? this.shared : undefined) ?? known;
    if (found) return found;
    const connection = this.#create(opening, { isExpecting, introduction: isNamed ? introduction : undefined });
    this.#shared.set(key, connection);
    return connection;
  }

  /** The shared connection of a client's lists, if it exists. */
  #sharedBy(client: ClientView): [key: string, connection: UpstreamConnection] | undefined {
    const opening = this.#seen(client);
    const introduction = this.#introductionOf(client);
    const named = introduction && namedKeyOf(opening, introduction);
    const key = named !== undefined && this.#shared.has(named) ? named : signatureOf(opening);
    const connection = this.#shared.get(key);
    if (connection) return [key, connection];
    const plain = signatureOf(withoutExperiments(opening));
    const shared = this.#shared.get(plain);
    return shared && [plain, shared];
  }

  /** The name in which to open the client's own connection. */
  #introductionOf(client: ClientOpening): ClientIntroduction | undefined {
    return this.#mayOwn(client) ? toClientIntroduction(client) : undefined;
  }

  #ownOf(client: ClientView): UpstreamConnection | undefined {
    if (client.era.hasSession) return this.#own.get(client);
    return this.#groups.get(this.#keyOf(client))?.connections[0];
  }

  #claim(client: ClientView): UpstreamConnection {
    const connection = this.#unshare(client) ?? this.#create(client, { introduction: this.#introductionOf(client) });
    connection.principal = client.principal;
    connection.asks.isAskedInCalls = client.era.asksInAnswers;
    if (!client.era.hasSession) {
      const group = new CallGroup(ownerOf(client));
      this.#groups.set(this.#keyOf(client), group);
      group.add(connection);
    } else this.#own.set(client, connection);
    this.#options.onClaim?.(connection, client);
    return connection;
  }

  /** A client that is alone keeps its connection, which it has shared with no other. */
  #unshare(client: ClientView): UpstreamConnection | undefined {
    const [key, connection] = (this.#options.isOnly(client) && this.#sharedBy(client)) || [];
    if (!connection || connection.isForNobody) return undefined;
    this.#shared.delete(key!);
    return connection;
  }

  /** Clients choose what they declare: beyond a few sets, a principal uses the connections of an earlier set. */
  #keyOf(client: ClientView, use = ''): string {
    const owner = ownerOf(client, use);
    const key = `${owner} ${signatureOf(client)}`;
    if (this.#groups.has(key)) return key;
    const known = [...this.#groups].filter(([, group]) => group.owner === owner);
    return known.length < this.#options.maxPool ? key : known[0]![0];
  }

  #grow(group: CallGroup, client: ClientView): UpstreamConnection | undefined {
    if (group.countAtWork() >= this.#options.maxPool || !this.#mayOpenOwn) return undefined;
    const connection = this.#create(client, { principal: client.principal });
    connection.asks.isAskedInCalls = client.era.asksInAnswers;
    group.add(connection);
    return connection;
  }

  #create(
    opening: ClientOpening,
    { principal, introduction, isExpecting = false }: ConnectionPurpose,
  ): UpstreamConnection {
    const declared = { capabilities: declaredCapabilities(opening), hasOurRoots: hasOurRoots(opening) };
    const purpose = { principal, introduction, isForAskable: this.#mayOwn(opening), isExpecting };
    const options = { ...declared, ...purpose, era: this.era, clock: this.#options.clock };
    return new UpstreamConnection(options, (connection) => this.#options.open(connection));
  }
}

function takeMissing<Key, Value>(to: Map<Key, Value>, from: Map<Key, Value>): Value[] {
  const missing = [...from].filter(([key]) => !to.has(key));
  for (const [key, value] of missing) to.set(key, value);
  return missing.map(([, value]) => value);
}
