// A server behind the gateway as a target for requests. It connects on demand, reconnects after a loss, and keeps what is known
// of the server while it is away.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange } from '../../protocol/exchange.ts';
import { isInteraction } from '../../protocol/interaction.ts';
import type { JsonObject, NotificationMessage } from '../../protocol/message.ts';
import { InternalExchange } from '../../protocol/internal-exchange.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { ServerView, UnattributedChange } from '../../protocol/server-view.ts';
import type { Change, ClientOpening, Target, Watcher } from '../../protocol/target.ts';
import { WIRE_NOTIFICATIONS, isRequestMethod } from '../../protocol/methods.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import { createLog } from '../../shared/log.ts';
import type { Log } from '../../shared/log.ts';
import { toCallCapabilities } from '../dialect/speak/client-capabilities.ts';
import type { CallContext } from './server-call.ts';
import { ServerRequests } from './server-requests.ts';
import { ChangeListeners } from './connections/change-listeners.ts';
import type { SpokenEra } from '../dialect/revisions.ts';
import { isCommandAddress } from './address.ts';
import { ClientPresence } from './connections/client-presence.ts';
import { ProcessCap } from './connections/process-cap.ts';
import type { UpstreamConnection } from './connections/upstream-connection.ts';
import { ElicitationCompletions } from './questions/elicitation-completions.ts';
import { ConnectionPool } from './connections/connection-pool.ts';
import { FlowBridge } from './flow-bridge.ts';
import { CHANGEABLE_LISTS, catchUp, onServerChange } from './connections/on-server-change.ts';
import type { ChangeContext } from './connections/on-server-change.ts';
import { OpenCall } from './questions/open-call.ts';
import { superviseUpstream } from './connections/supervise-upstream.ts';
import type { SupervisedConnection } from './connections/supervised-connection.ts';
import { TaskBridge } from './tasks/task-bridge.ts';
import { withTasksOf } from './tasks/task-support.ts';
import { isLoginNeeded } from './login/login-tool.ts';
import { toAwayError } from './target-errors.ts';
import type { ServerTarget, TargetStatus, UpstreamTargetOptions } from './target-options.ts';
import type { Upstream } from './upstream.ts';

const WAIT_MS = 60_000;
const ROOTS_CHANGED = 'notifications/roots/list_changed';
const OF_THE_GATEWAY = { method: 'resources/subscribe', subject: 'resources/subscribe' };
const NOBODY: Implementation = { name: 'unknown', version: '0' };
/** The most likely kind of client, before one is known. */
const ANYBODY: ClientOpening = { dialect: 'handshake', capabilities: {} };

export class UpstreamTarget implements ServerTarget {
  readonly name: string;
  readonly #options: UpstreamTargetOptions;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #connections: ConnectionPool;
  readonly #listeners: ChangeListeners;
  readonly #tasks: TaskBridge;
  readonly #flow: FlowBridge;
  readonly #completions: ElicitationCompletions;
  readonly #requests: ServerRequests;
  readonly #unlisten: () => void;
  readonly #clients = new ClientPresence();
  /** Undefined if the server runs elsewhere. */
  readonly #processes: ProcessCap | undefined;

  constructor(options: UpstreamTargetOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = (options.log ?? createLog()).child({ server: options.name });
    const clock = (this.#clock = options.clock ?? systemClock);
    this.#connections = new ConnectionPool({
      share: options.share ?? 'auto',
      clock,
      assisted: options.assisted,
      waitMs: options.timeoutMs ?? WAIT_MS,
      maxPool: options.limits?.maxPool ?? DEFAULT_LIMITS.maxPool,
      pin: options,
      open: (connection) => this.#supervise(connection),
      hasRoom: (wanted) => this.#processes?.hasRoom(wanted) ?? true,
      onClaim: (one, client) => (this.#clients.hasLeft(client) ? this.#leave(client) : this.#attend(one, client)),
    });
    if (isCommandAddress(options.address)) {
      this.#processes = new ProcessCap({
        server: options.name,
        max: options.limits?.maxProcesses ?? DEFAULT_LIMITS.maxProcesses,
        connections: () => this.#connections.all,
        isKept: (connection) => this.#isKept(connection),
      });
    }
    this.#completions = new ElicitationCompletions(clock);
    this.#listeners = new ChangeListeners((client) => this.#connections.known(client));
    const calls: CallContext = { connections: this.#connections, clock, timeoutMs: options.timeoutMs };
    this.#flow = new FlowBridge(calls);
    this.#tasks = new TaskBridge({
      tools: (client) => this.#connections.serverFor(client).tools,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tell: (change) => this.#listeners.tellAll(change),
      calls,
    });
    this.#requests = this.#createRequests(calls);
    this.#unlisten = options.definitions?.onAccepted((kind) => this.#listeners.tellAll({ kind })) ?? (() => {});
  }

  #createRequests(calls: CallContext): ServerRequests {
    const { name, logIn, definitions } = this.#options;
    return new ServerRequests({
      name,
      calls,
      definitions,
      tasks: this.#tasks,
      flow: this.#flow,
      completions: this.#completions,
      logIn: logIn && ((exchange) => this.#logIn(exchange)),
    });
  }

  get info(): Implementation {
    return this.#connections.view?.info ?? NOBODY;
  }

  get instructions(): string | undefined {
    return this.#connections.view?.instructions;
  }

  greeting(client: ClientView): JsonObject | undefined {
    return this.viewFor(client)?.greeting;
  }

  /** A connection that is not open yet gets the level with the next call. */
  setLevel(level: unknown, client: ClientView): Promise<void> | undefined {
    const server = this.viewFor(client);
    if (server?.dialect !== 'handshake' || !server.capabilities.logging) return undefined;
    const known = this.#connections.known(client);
    return (known?.supervised.current ? known : this.#connections.listing(client)).tellLevel(level);
  }

  readonly heldBack: NonNullable<Target['heldBack']> = (area) => this.#options.definitions?.heldBack(area);

  get status(): TargetStatus {
    const all = this.#connections.all.map(({ supervised }) => supervised);
    const { state = 'idle', current, failure } = all.find((one) => one.current) ?? all[0] ?? {};
    const problem = current || state === 'idle' ? undefined : toAwayError(failure, this.name);
    const { address, definitions } = this.#options;
    return {
      state,
      server: this.#connections.view,
      transport: current?.transport,
      failure: failure?.message,
      problem,
      sandbox: isCommandAddress(address) ? (address.sandbox ?? false) : undefined,
      findings: definitions?.reports ?? [],
    };
  }

  /** The server in the era used for this client; undefined until it is known. */
  viewFor(client: Pick<ClientView, 'dialect'>): ServerView | undefined {
    return this.#connections.serverFor(client).view;
  }

  /** Resolves when it is known what the server offers to this client, or why not (see `status`). */
  async ready(opening: ClientOpening = ANYBODY): Promise<void> {
    if (this.viewFor(opening)) return;
    await this.#connections
      .prepare(opening)
      .supervised.get()
      .catch(() => {}); // reported to the next request
  }

  capabilities(client: ClientView): ServerCapabilities {
    const server = this.viewFor(client) ?? this.#connections.view;
    if (server) return withTasksOf(server);
    return this.#options.logIn && isLoginNeeded(this.status.problem) ? { tools: { listChanged: true } } : {};
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#connections.serverFor(client).tools.get(tool)?.inputSchema;
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const leaving = [this.#listeners.add(listener, watcher?.client)];
    if (watcher) leaving.push(this.#clients.add(watcher), this.#flow.attend(watcher, this.#connections));
    const { supervised } = watcher ? this.#meet(watcher.client) : this.#connections.prepare(undefined);
    if (supervised.current) supervised.current.watch();
    else if (watcher?.client.dialect === 'stateless') void supervised.get().catch(() => {}); // as for `ready`
    return () => {
      for (const leave of leaving.splice(0)) leave();
      if (watcher && !this.#clients.has(watcher.client)) this.#leave(watcher.client);
    };
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.handle(new InternalExchange('resources/subscribe', { uri }, client));
  }

  /** Servers of the other eras report tasks unasked. */
  async followTask(taskId: string, client: ClientView): Promise<void> {
    if (this.viewFor(client)?.dialect === 'stateless') await this.#connections.home(client).followTask(taskId);
  }

  /**
   * A custom notification may matter to later calls, so the server is connected for it. Changed roots matter only to a server
   * that knows the client's own.
   */
  notify({ method, params }: NotificationMessage, client: ClientView): void {
    if (WIRE_NOTIFICATIONS.has(method) || isRequestMethod(method)) return;
    const isRoots = method === ROOTS_CHANGED;
    const connection = isRoots ? this.#connections.known(client) : this.#connections.home(client);
    if (!connection || (isRoots && connection.isShared)) return;
    const { supervised, users } = connection;
    const upstream = supervised.current ?? (isRoots ? undefined : supervised.get());
    // A lost server needs no notification.
    void Promise.resolve(upstream)
      .then((one) => {
        users.note(client, method);
        return one?.notify(method, params, { info: client.info, capabilities: toCallCapabilities(client) });
      })
      .catch(() => {});
  }

  /** Called when other roots are configured. */
  tellRootsChanged(): void {
    for (const connection of this.#connections.all) connection.tellRootsChanged();
  }

  handle(exchange: Exchange): Promise<ResultObject> {
    return this.#requests.handle(exchange);
  }

  /** Sends a request on a connection that is already open; undefined if none is. */
  look(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> | undefined {
    const open = this.#connections.all.find(({ supervised }) => supervised.current);
    return open?.supervised.current?.call({ method, params, signal });
  }

  /** Closes the connections once their calls have ended. */
  async retire(): Promise<void> {
    this.#unlisten();
    await Promise.all(this.#connections.all.map(({ supervised }) => supervised.retire()));
  }

  async close(): Promise<void> {
    this.#tasks.close();
    await Promise.all([...this.#connections.all.map((one) => one.supervised.close()), this.#processes?.settled()]);
  }

  /** Afterwards the connection is opened at once, which tells the clients of new lists. */
  async #logIn(exchange: Exchange): Promise<void> {
    await this.#options.logIn!(exchange);
    for (const { supervised } of this.#connections.all) supervised.retryNow();
    await this.#connections.homeOf(exchange).supervised.get();
  }

  /**
   * The connection that tells a new client about changes. If its server has already asked for this client, it becomes the
   * client's own.
   */
  #meet(client: ClientView): UpstreamConnection {
    const connection = this.#connections.listing(client);
    if (!connection.isShared) this.#attend(connection, client);
    else if (connection.asks.isAwaited && this.#connections.home(client) === connection) return connection;
    else connection.asks.dismiss();
    return connection;
  }

  /** Lets the client answer questions that arrive on its own connection outside of calls. */
  #attend({ asks }: UpstreamConnection, client: ClientView): void {
    const ask = this.#clients.askOf(client);
    if (ask) asks.attend(ask);
    else asks.dismiss();
  }

  #leave(client: ClientView): void {
    // A lost server has forgotten the client already.
    for (const connection of this.#connections.all) connection.forget(client).catch(() => {});
    const own = this.#connections.drop(client);
    own?.asks.dismiss();
    void own?.supervised.retire();
  }

  #contextOf(connection: UpstreamConnection): ChangeContext {
    return {
      tools: this.#connections.serverOf(connection).tools,
      tasks: this.#tasks,
      taskOwners: this.#connections.taskOwners,
      completions: this.#completions,
      definitions: this.#options.definitions,
      listeners: this.#listeners,
    };
  }

  #supervise(connection: UpstreamConnection): SupervisedConnection {
    const events = {
      onAsk: (ask: Ask, signal: AbortSignal) => this.#onAsk(connection, ask, signal),
      pausesCalls: true,
      maxAsked: this.#options.limits?.maxInFlight,
      onPing: (ask: Ask, signal: AbortSignal) => connection.asks.ping(ask, signal),
      onLateAsk: (ask: Ask, signal: AbortSignal) => connection.asks.putLate(ask, signal),
      track: () => new OpenCall(connection.asks, undefined, { ...OF_THE_GATEWAY, habits: this.#connections.habits }),
      onUnnamed: (change: UnattributedChange) => this.#onUnnamed(connection, change),
      onChange: (change: Change) => onServerChange(change, connection, this.#contextOf(connection)),
      onNotice: (notification: NotificationMessage) => this.#flow.notice(notification, connection),
    };
    return superviseUpstream(connection, this.#options, {
      events,
      onOpen: (upstream, isAgain) => this.#onOpen(connection, upstream, isAgain),
      onIdle: () => this.#connections.forget(connection),
      isKept: () => this.#isKept(connection),
      admit: () => this.#processes?.admit(connection),
      onClosing: (closed) => this.#processes?.noteClosing(closed),
      log: this.#log,
      clock: this.#clock,
    });
  }

  /** A present client keeps its own connection and those of its subscriptions; one connection is always kept for lists. */
  #isKept(connection: UpstreamConnection): boolean {
    if (connection.hasSubscriber((client) => this.#clients.isPresent(client))) return true;
    if (connection.isShared && this.#options.idleMs !== undefined) return false;
    if (this.#clients.isAnyPresent((client) => this.#connections.known(client) === connection)) return true;
    return connection.isShared && !this.#connections.all.some((one) => one !== connection && one.supervised.isLive);
  }

  /** Servers ask for roots as soon as they are connected, maybe before any call or client. */
  #onAsk(connection: UpstreamConnection, ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    if (isInteraction(ask.method)) return this.#flow.put(ask, connection, signal);
    if (ask.method !== 'roots/list') return connection.asks.put(ask, signal);
    const { roots } = this.#options;
    if (connection.hasOurRoots && roots) return roots();
    if (!this.#isForNobody(connection)) return connection.asks.put(ask, signal);
    connection.isForNobody = true;
    return Promise.resolve({ roots: [] });
  }

  /** Whether a shared connection declares roots, but no single client can answer for it. */
  #isForNobody(connection: UpstreamConnection): boolean {
    if (!connection.isShared || !connection.capabilities.roots || connection.asks.isExpecting) return false;
    const { sole } = this.#clients;
    const isFree = sole && this.#clients.askOf(sole) && this.#connections.isOnly(sole);
    return !isFree || this.#connections.known(sole) !== connection || this.#connections.home(sole) !== connection;
  }

  /**
   * Handles a message that names no call. Stateless servers log for a request, handshake servers for a session: there it reaches
   * a client only if no other client has used the connection, since it may belong to a call that was answered long ago.
   */
  #onUnnamed(connection: UpstreamConnection, change: UnattributedChange): void {
    const { sole, clients, latest } = connection.asks;
    const isPerCall = connection.supervised.current?.server.dialect === 'stateless';
    const caller = isPerCall ? connection.asks.soleOfPrincipal : undefined;
    if (caller) return caller.tell(change);
    if (!isPerCall) for (const client of this.#listeners.clientsAt(connection)) clients.add(client);
    // A stateless client object lives for one request, so the latest one says nothing.
    if (!isPerCall && latest && latest.dialect !== 'stateless') clients.add(latest);
    const isForeign = !isPerCall && sole !== undefined && !connection.users.isAlone(sole.client);
    if (clients.size > 1 || isForeign) this.#log.debug({ kind: change.kind }, 'unnamed.not-told');
    else if (sole && !sole.isGone) sole.tell(change);
    else onServerChange(change, connection, this.#contextOf(connection));
  }

  #onOpen(connection: UpstreamConnection, upstream: Upstream, isAgain: boolean): void {
    const { server } = upstream;
    this.#connections.learn(connection, server);
    const known = this.#connections.serverOf(connection);
    const isNews = known.view === undefined;
    known.learn(server);
    if (!this.#listeners.isEmpty) upstream.watch();
    if (isAgain) catchUp(upstream, connection, this.#contextOf(connection));
    else if (isNews) this.#tellNews(server, connection.era);
  }

  /** Tells present clients what the server offers, now that it is known. */
  #tellNews({ capabilities }: ServerView, era: SpokenEra): void {
    const isServed = (client: ClientView | undefined): boolean => !client || this.#connections.eraFor(client) === era;
    for (const kind of CHANGEABLE_LISTS) if (capabilities[kind]) this.#listeners.tellAll({ kind }, isServed);
  }
}
