// What the connections to a server report, and what follows from it: the opening and the loss of a connection, questions of the server, changes, and
// messages that name no call.
import { isSameEra } from '../../../mcp/eras/revisions.ts';
import type { Ask, ClientView } from '../../../kernel/exchange.ts';
import { flowOf, isInteraction } from '../../../kernel/interaction.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { ServerEvents, ServerView, UnattributedChange } from '../../../kernel/server-view.ts';
import { hasEnded } from '../../../kernel/target.ts';
import type { Change } from '../../../kernel/target.ts';
import { LIST_ROOTS, SUBSCRIBE_RESOURCE } from '../../../kernel/methods.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { SpokenEra } from '../../../kernel/era/era.ts';
import { isCommandAddress } from '../../../mcp/connect/address.ts';
import type { FlowBridge } from '../flow/flow-bridge.ts';
import type { ElicitationCompletions } from '../questions/page-visits.ts';
import { OpenCall } from '../questions/open-call.ts';
import type { UpstreamTargetOptions } from '../target-options.ts';
import type { TaskBridge } from '../tasks/task-bridge.ts';
import { connectServer } from '../../../mcp/connect/connected-server.ts';
import type { ConnectedServer } from '../../../mcp/connect/connected-server.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { ProcessCap } from './process-cap.ts';
import { SupervisedConnection } from './supervised-connection.ts';
import type { SupervisedConnectionOptions } from './supervised-connection.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { Watchers } from './watchers.ts';

interface ConnectionEventsOptions {
  target: UpstreamTargetOptions;
  connections: ConnectionPool;
  watchers: Watchers;
  tasks: TaskBridge;
  flow: FlowBridge;
  completions: ElicitationCompletions;
  log: Log;
  clock: Clock;
}

const CHANGEABLE_LISTS = ['tools', 'prompts', 'resources'] as const;
const OF_THE_GATEWAY = { method: SUBSCRIBE_RESOURCE, subject: SUBSCRIBE_RESOURCE };

export class ConnectionEvents {
  /** Undefined if the server runs elsewhere. */
  readonly processes: ProcessCap | undefined;
  readonly #options: ConnectionEventsOptions;
  readonly #log: Log;
  readonly #connections: ConnectionPool;
  readonly #watchers: Watchers;
  /** The reason of the last failure. */
  #failure: string | undefined;

  constructor(options: ConnectionEventsOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#connections = options.connections;
    this.#watchers = options.watchers;
    const { name, address, limits } = options.target;
    if (!isCommandAddress(address)) return;
    this.processes = new ProcessCap({
      server: name,
      max: limits?.maxProcesses ?? DEFAULT_LIMITS.maxProcesses,
      connections: () => this.#connections.all,
      isKept: (connection) => this.#isKept(connection),
    });
  }

  supervise(connection: UpstreamConnection): SupervisedConnection {
    const { processes } = this;
    const { target, clock } = this.#options;
    const { ownIdleMs } = { ...DEFAULT_LIMITS, ...target.limits };
    let isAgain = false;
    return new SupervisedConnection({
      clock,
      idleMs: target.idleMs,
      lingerMs: ownIdleMs,
      isKept: () => this.#isKept(connection),
      admit: () => processes?.admit(connection),
      onClosing: (closed) => processes?.noteClosing(closed),
      open: this.#openerFor(connection),
      onOpen: (connected) => {
        this.#onOpen(connection, connected, isAgain);
        isAgain = true;
      },
      onLost: (reason) => {
        this.#log.warn({ reason }, 'upstream.lost');
        this.#onGone(connection);
      },
      onFailed: ({ message }) => this.#onFailed(message),
      onIdle: () => {
        connection.asks.reset();
        this.#connections.forget(connection);
      },
      onReplaced: () => {
        this.#log.info({}, 'upstream.replaced');
        this.#onGone(connection);
      },
      // Interactive sessions stay in the server between calls.
      isAtWork: (connected) => connection.asks.hasTasks || flowOf(connected.server.capabilities)?.interactive === true,
    });
  }

  /** A present client keeps its own connection and those of its subscriptions; one connection is always kept for lists. */
  #isKept(connection: UpstreamConnection): boolean {
    const { isShared } = connection;
    if (connection.hasSubscriber((client) => this.#watchers.isPresent(client))) return true;
    if (isShared && this.#options.target.idleMs !== undefined) return false;
    if (this.#watchers.isAnyPresent((client) => this.#connections.known(client) === connection)) return true;
    return isShared && !this.#connections.all.some((one) => one !== connection && one.supervised.isLive);
  }

  #openerFor(connection: UpstreamConnection): SupervisedConnectionOptions['open'] {
    const { target, log, clock } = this.#options;
    const { address, client: info, revision, era, timeoutMs, limits, id, login, checkStart } = target;
    const events = this.#eventsOf(connection);
    const fixed = { info, revision, era, timeoutMs, limits, id, login, checkStart, events, log, clock };
    return (onClose, signal) => {
      const { capabilities, introduction, era: prefer, subscriptions } = connection;
      return connectServer(address, { ...fixed, capabilities, introduction, prefer, subscriptions, onClose, signal });
    };
  }

  #eventsOf(connection: UpstreamConnection): ServerEvents {
    const { asks } = connection;
    const { target, flow } = this.#options;
    const { habits } = this.#connections;
    return {
      onAsk: (ask, signal) => this.#onAsk(connection, ask, signal),
      pausesCalls: true,
      maxAsked: target.limits?.maxInFlight,
      onPing: (ask, signal) => asks.ping(ask, signal),
      onLateAsk: (ask, signal) => asks.routeLate(ask, signal),
      track: () => Object.assign(new OpenCall(asks, undefined), { ...OF_THE_GATEWAY, habits }),
      onUnnamed: (change) => this.#onUnnamed(connection, change),
      onChange: (change) => this.#onChange(connection, change),
      onNotice: (notification: NotificationMessage) => flow.notice(notification, connection),
    };
  }

  #onOpen(connection: UpstreamConnection, connected: ConnectedServer, isAgain: boolean): void {
    const { server, transport } = connected;
    this.#log.info({ revision: server.revision, transport }, 'upstream.ready');
    this.#failure = undefined;
    connection.resetUsers();
    this.#connections.learn(connection, server);
    const known = this.#connections.serverOf(connection);
    const isNews = known.view === undefined;
    known.learn(server);
    if (!this.#watchers.isEmpty) connected.watch();
    if (isAgain) this.#catchUp(connection, connected);
    else if (isNews) this.#tellNews(server, connection.era);
  }

  /** After a reconnection, tells clients about everything that may have changed meanwhile. */
  #catchUp(connection: UpstreamConnection, connected: ConnectedServer): void {
    this.#connections.taskOwners.forget(connection);
    void connected.resubscribe();
    for (const kind of CHANGEABLE_LISTS) if (connected.server.capabilities[kind]) this.#onChange(connection, { kind });
    for (const uri of connection.uris) this.#onChange(connection, { kind: 'resource', uri });
  }

  /** Tells present clients what the server offers, now that it is known. */
  #tellNews({ capabilities }: ServerView, era: SpokenEra): void {
    const isServed = (client: ClientView | undefined): boolean =>
      !client || isSameEra(this.#connections.eraFor(client), era);
    for (const kind of CHANGEABLE_LISTS) if (capabilities[kind]) this.#watchers.tellAll({ kind }, isServed);
  }

  #onGone(connection: UpstreamConnection): void {
    connection.asks.reset();
    connection.reopen(this.#options.clock);
  }

  /** Every client retries a server that is down, so the log reports each reason only once. */
  #onFailed(reason: string): void {
    this.#log[this.#failure === reason ? 'debug' : 'warn']({ reason }, 'upstream.failed');
    this.#failure = reason;
  }

  /** Servers ask for roots as soon as they are connected, maybe before any call or client. */
  #onAsk(connection: UpstreamConnection, ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    const { target, flow } = this.#options;
    if (isInteraction(ask.method)) return flow.ask(ask, connection, signal);
    if (ask.method !== LIST_ROOTS) return connection.asks.route(ask, signal);
    if (connection.hasOurRoots && target.roots) return target.roots();
    if (connection.capabilities.roots) this.#connections.quiet.noteRootsAsked();
    // Of a client that shares, and whose server has not asked for roots before.
    if (connection.isShared && connection.asks.hasAskable) return connection.asks.route(ask, signal);
    if (!this.#isForNobody(connection)) return connection.asks.route(ask, signal);
    connection.isForNobody = true;
    return Promise.resolve({ roots: [] });
  }

  /** Whether a shared connection declares roots, but no single client can answer for it. */
  #isForNobody(connection: UpstreamConnection): boolean {
    if (!connection.isShared || !connection.capabilities.roots || connection.asks.isExpecting) return false;
    const { sole } = this.#watchers;
    const isFree = sole && this.#watchers.askOf(sole) && this.#connections.isOnly(sole);
    return !isFree || this.#connections.known(sole) !== connection || this.#connections.home(sole) !== connection;
  }

  /**
   * Handles a message that names no call. Stateless servers log for a request, handshake servers for a session: there it reaches
   * a client only if no other client has used the connection, since it may belong to a call that was answered long ago.
   */
  #onUnnamed(connection: UpstreamConnection, change: UnattributedChange): void {
    const { sole, clients, latest } = connection.asks;
    const isPerCall = connection.supervised.current?.server.era.tellsLevelPerCall;
    const caller = isPerCall ? connection.asks.soleOfPrincipal : undefined;
    if (caller) return caller.tell(change);
    if (!isPerCall) for (const client of this.#watchers.clientsAt(connection)) clients.add(client);
    // A stateless client object lives for one request, so the latest one says nothing.
    if (!isPerCall && latest && latest.era.hasSession) clients.add(latest);
    const isForeign = !isPerCall && sole !== undefined && !connection.users.isAlone(sole.client);
    if (clients.size > 1 || isForeign) this.#log.debug({ kind: change.kind }, 'unnamed.not-told');
    else if (sole && !sole.isGone) sole.tell(change);
    else this.#onChange(connection, change);
  }

  /** Updates what the gateway knows of the server, and notifies clients. */
  #onChange(connection: UpstreamConnection, change: Change): void {
    const { target, completions } = this.#options;
    if (change.kind === 'task') return this.#onTask(connection, change);
    if (change.kind === 'tools') this.#connections.serverOf(connection).tools.outdate();
    if (change.kind === 'tools' || change.kind === 'prompts') target.definitions?.outdate(change.kind);
    if (change.kind === 'elicited') completions.complete(change.elicitationId);
    const { current } = connection.supervised;
    const isDirect = change.kind === 'resource' && !connection.isShared && current?.server.era.updatesSubscribers;
    this.#watchers.tell(connection, isDirect ? { ...change, isDirect } : change, current?.transport === 'stdio');
  }

  #onTask(connection: UpstreamConnection, change: Extract<Change, { kind: 'task' }>): void {
    const { task } = change;
    if (hasEnded(task)) {
      connection.subscriptions.forgetTask(task.taskId);
      connection.asks.endTask(task.taskId);
    }
    if (this.#options.tasks.onTask(task, connection)) return;
    const owned = this.#connections.taskOwners.address(change, connection);
    if (owned) this.#watchers.tellAll(owned);
  }
}
