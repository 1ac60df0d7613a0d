// A server behind the gateway as a target for requests. It connects on demand, reconnects after a loss, and keeps what is known
// of the server while it is away.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject, NotificationMessage } from '../../kernel/message.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import type { Change, ClientOpening, Target, Watcher } from '../../kernel/target.ts';
import { ROOTS_CHANGED, SUBSCRIBE_RESOURCE, WIRE_NOTIFICATIONS, isRequestMethod } from '../../kernel/methods.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import { toSafeLog } from '../../kernel/base/log.ts';
import { ANYBODY } from '../../mcp/eras/own-clients.ts';
import { toCallCapabilities } from '../../mcp/eras/speak/client-capabilities.ts';
import type { CallContext } from './call-context.ts';
import { RequestDispatcher } from './request-dispatcher.ts';
import { ConnectionEvents } from './connections/connection-events.ts';
import { Watchers } from './connections/watchers.ts';
import { isCommandAddress } from '../../mcp/connect/address.ts';
import type { SupervisedConnection } from './connections/supervised-connection.ts';
import type { UpstreamConnection } from './connections/upstream-connection.ts';
import { ElicitationCompletions } from './questions/page-visits.ts';
import { ConnectionPool } from './connections/connection-pool.ts';
import { FlowBridge } from './flow/flow-bridge.ts';
import { TaskBridge } from './tasks/task-bridge.ts';
import { withTasksOf } from './tasks/task-support.ts';
import { isLoginNeeded } from '../../mcp/connect/accounts/server-login.ts';
import { toAwayError } from './target-errors.ts';
import type { ServerTarget, TargetStatus, UpstreamTargetOptions } from './target-options.ts';

const WAIT_MS = 60_000;
const NOBODY: Implementation = { name: 'unknown', version: '0' };
/** The most likely kind of client, before one is known. */
export class UpstreamTarget implements ServerTarget {
  readonly name: string;
  readonly #options: UpstreamTargetOptions;
  readonly #connections: ConnectionPool;
  readonly #watchers: Watchers;
  readonly #events: ConnectionEvents;
  readonly #tasks: TaskBridge;
  readonly #flow: FlowBridge;
  readonly #dispatcher: RequestDispatcher;
  readonly #unlisten: () => void;

  constructor(options: UpstreamTargetOptions) {
    this.name = options.name;
    this.#options = options;
    const { clock = systemClock } = options;
    this.#connections = new ConnectionPool({
      share: sharingOf(options),
      clock,
      assisted: options.assisted,
      waitMs: options.timeoutMs ?? WAIT_MS,
      maxPool: options.limits?.maxPool ?? DEFAULT_LIMITS.maxPool,
      onlyRevision: options,
      open: (connection) => this.#events.supervise(connection),
      hasRoom: (wanted) => this.#events.processes?.hasRoom(wanted) ?? true,
      noRoom: () => this.#events.processes!.noRoom(),
      onClaim: (one, client) => this.#onClaim(one, client),
    });
    this.#watchers = new Watchers((client) => this.#connections.known(client));
    const calls: CallContext = { connections: this.#connections, clock, timeoutMs: options.timeoutMs };
    this.#flow = new FlowBridge(calls);
    this.#tasks = new TaskBridge({
      tools: (client) => this.#connections.serverFor(client).tools,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tell: (change) => this.#watchers.tellAll(change),
      calls,
    });
    const shared = { tasks: this.#tasks, flow: this.#flow, completions: new ElicitationCompletions(clock) };
    this.#dispatcher = new RequestDispatcher({
      ...shared,
      name: options.name,
      calls,
      definitions: options.definitions,
      logIn: options.logIn && ((exchange) => this.#logIn(exchange)),
    });
    this.#events = new ConnectionEvents({
      ...shared,
      target: options,
      connections: this.#connections,
      watchers: this.#watchers,
      log: toSafeLog(options.log).child({ server: options.name }),
      clock,
    });
    this.#unlisten = options.definitions?.onAccepted((kind) => this.#watchers.tellAll({ kind })) ?? (() => {});
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
    if (!server?.era.tellsLevelPerSession || !server.capabilities.logging) return undefined;
    const known = this.#connections.known(client);
    return (known?.supervised.current ? known : this.#connections.listing(client)).tellLevel(level);
  }

  readonly heldBack: NonNullable<Target['heldBack']> = (area) => this.#options.definitions?.heldBack(area);

  get status(): TargetStatus {
    const all = this.#connections.all.map(({ supervised }) => supervised);
    const { state = 'idle', current, failure } = all.find((one) => one.current) ?? lastFailed(all) ?? all[0] ?? {};
    const problem = current || state === 'idle' ? undefined : toAwayError(failure, this.name);
    const { address, definitions } = this.#options;
    return {
      state,
      connections: all.filter((one) => one.current).length,
      server: this.#connections.view,
      transport: current?.transport,
      failure: failure?.message,
      problem,
      command: isCommandAddress(address) ? address : undefined,
      findings: definitions?.reports ?? [],
    };
  }

  /** The server in the era used for this client; undefined until it is known. */
  viewFor(client: Pick<ClientView, 'era'>): ServerView | undefined {
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
    const leaving = [this.#watchers.add(listener, watcher)];
    if (watcher) leaving.push(this.#flow.attend(watcher, this.#connections));
    const { supervised } = watcher ? this.#meet(watcher.client) : this.#connections.prepare(undefined);
    if (supervised.current) supervised.current.watch();
    else if (watcher?.client.era.hasSession === false) void supervised.get().catch(() => {}); // as for `ready`
    return () => {
      for (const leave of leaving.splice(0)) leave();
      if (watcher && !this.#watchers.has(watcher.client)) this.#leave(watcher.client);
    };
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.handle(new InternalExchange(SUBSCRIBE_RESOURCE, { uri }, client));
  }

  /** Most servers report tasks unasked. */
  async followTask(taskId: string, client: ClientView): Promise<void> {
    if (this.viewFor(client)?.era.reportsTasks === false) await this.#connections.home(client).followTask(taskId);
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
    const connected = supervised.current ?? (isRoots ? undefined : supervised.get());
    // A lost server needs no notification.
    void Promise.resolve(connected)
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
    return this.#dispatcher.handle(exchange);
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
    await Promise.all([
      ...this.#connections.all.map((one) => one.supervised.close()),
      this.#events.processes?.settled(),
    ]);
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

  #onClaim(connection: UpstreamConnection, client: ClientView): void {
    if (this.#watchers.hasLeft(client)) return this.#leave(client);
    this.#attend(connection, client);
    // What it has subscribed to while it shared. A server that refuses sends it no more updates of that.
    for (const shared of this.#connections.all) {
      if (shared !== connection) shared.handOver(client, connection).catch(() => {});
    }
  }

  /** Lets the client answer questions that arrive on its own connection outside of calls. */
  #attend({ asks }: UpstreamConnection, client: ClientView): void {
    const ask = this.#watchers.askOf(client);
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
}

/** On stdio a connection is a process, so clients share it until the server asks one of them. */
function sharingOf({ share = 'auto', ...options }: UpstreamTargetOptions): 'auto' | 'quiet' | 'session' | 'all' {
  const { sharesUntilAsked = isCommandAddress(options.address) } = options;
  return share === 'auto' && sharesUntilAsked ? 'quiet' : share;
}

/** Of several connections that failed, the newest reason is the one to put right. */
function lastFailed(all: readonly SupervisedConnection[]): SupervisedConnection | undefined {
  return all.filter(({ failure }) => failure !== undefined).toSorted((a, b) => b.failedAt - a.failedAt)[0];
}
