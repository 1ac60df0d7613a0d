// A server as something requests can be handed to: connected when it is needed, again when it was lost, and known by its
// last words while it is away.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange } from '../../protocol/exchange.ts';
import { isInteraction } from '../../protocol/interaction.ts';
import type { JsonObject, NotificationMessage } from '../../protocol/message.ts';
import { QuietExchange } from '../../protocol/quiet-exchange.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { Change, Opening, Target, Watcher } from '../../protocol/target.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import { createLog } from '../../shared/log.ts';
import type { Log } from '../../shared/log.ts';
import { Answers } from './answers.ts';
import { Audience } from './audience.ts';
import type { Connection } from './connection.ts';
import { Connections } from './connections.ts';
import { FlowBridge } from './flow-bridge.ts';
import { LISTS, catchUp, hear } from './heard.ts';
import type { Concerned } from './heard.ts';
import { Lender } from './lender.ts';
import { superviseUpstream } from './supervise-upstream.ts';
import type { Supervised } from './supervised.ts';
import { TaskBridge } from './task-bridge.ts';
import { withTasksOf } from './task-support.ts';
import type { TargetStatus, UpstreamTargetOptions } from './target-options.ts';
import { TaskOwners } from './task-owners.ts';
import { ToolBook } from './tool-book.ts';
import type { Upstream } from './upstream.ts';

const WAIT_MS = 60_000;
const NOBODY: Implementation = { name: 'unknown', version: '0' };

export class UpstreamTarget implements Target {
  readonly name: string;
  readonly #options: UpstreamTargetOptions;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #connections: Connections;
  readonly #lender: Lender;
  readonly #audience: Audience;
  readonly #tools = new ToolBook();
  readonly #tasks: TaskBridge;
  readonly #flow: FlowBridge;
  readonly #taskOwners = new TaskOwners();
  readonly #answers: Answers;
  /** What was last known, also while the server is away. */
  #server: ServerView | undefined;

  constructor(options: UpstreamTargetOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = (options.log ?? createLog()).child({ server: options.name });
    const clock = (this.#clock = options.clock ?? systemClock);
    this.#connections = new Connections({
      share: options.share ?? 'auto',
      ...{ clock, assisted: options.assisted },
      waitMs: options.timeoutMs ?? WAIT_MS,
      maxPool: options.limits?.maxPool ?? DEFAULT_LIMITS.maxPool,
      open: (connection) => this.#supervise(connection),
    });
    this.#audience = new Audience((client) => this.#connections.known(client));
    this.#lender = new Lender(this.#connections, { clock, timeoutMs: options.timeoutMs });
    this.#flow = new FlowBridge(this.#lender, clock);
    this.#tasks = new TaskBridge({
      tools: this.#tools,
      clock,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tell: (change) => this.#audience.tellAll(change),
      lender: this.#lender,
    });
    this.#answers = new Answers({
      ...{ name: options.name, server: () => this.#server, connections: this.#connections, lender: this.#lender },
      ...{ tools: this.#tools, tasks: this.#tasks, taskOwners: this.#taskOwners, flow: this.#flow },
    });
  }

  get info(): Implementation {
    return this.#server?.info ?? NOBODY;
  }

  get instructions(): string | undefined {
    return this.#server?.instructions;
  }

  /** For `status`: what the connection is, and why it is not there. */
  get status(): TargetStatus {
    const all = this.#connections.all.map(({ supervised }) => supervised);
    const { state = 'idle', current, failure } = all.find((one) => one.current) ?? all[0] ?? {};
    return { state, server: this.#server, transport: current?.transport, failure: failure?.message };
  }

  /** Resolves when the server is known, or has failed to be: `status` then says why. */
  async ready(opening?: Opening): Promise<void> {
    if (this.#server) return;
    await this.#connections
      .prepare(opening)
      .supervised.get()
      .catch(() => {}); // told by whatever needs the server next
  }

  capabilities(): ServerCapabilities {
    return this.#server ? withTasksOf(this.#server) : {};
  }

  inputSchema(tool: string): JsonObject | undefined {
    return this.#tools.inputSchema(tool);
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const stop = this.#audience.add(listener, watcher?.client);
    const home = watcher ? this.#connections.home(watcher.client) : this.#connections.prepare(undefined);
    const isHeld = !home.isShared;
    if (isHeld) home.supervised.take();
    if (watcher?.ask) home.asks.attend((ask, signal) => watcher.ask!(ask, signal));
    const leaveFlow = watcher && this.#flow.attend(watcher, home);
    if (home.supervised.current) home.supervised.current.watch();
    else if (watcher?.client.dialect === 'stateless') void home.supervised.get().catch(() => {}); // as for `ready`
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      stop();
      if (isHeld) home.supervised.giveBack();
      leaveFlow?.();
      if (watcher && !this.#audience.has(watcher.client)) this.#leave(watcher.client, home);
    };
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.handle(new QuietExchange('resources/subscribe', { uri }, client));
  }

  /** Elsewhere tasks are told of without being asked for. */
  async followTask(taskId: string, client: ClientView): Promise<void> {
    if (this.#server?.dialect === 'stateless') await this.#connections.home(client).followTask(taskId);
  }

  notify(notification: NotificationMessage, client: ClientView): void {
    const { current } = this.#connections.known(client)?.supervised ?? {};
    if (!current || this.#server?.dialect !== 'handshake') return;
    current.notify(notification.method, notification.params).catch(() => {}); // a server that is gone needs no notice
  }

  /** Other roots are configured. */
  tellRootsChanged(): void {
    for (const connection of this.#connections.all) connection.tellRootsChanged();
  }

  handle(exchange: Exchange): Promise<ResultObject> {
    return this.#answers.handle(exchange);
  }

  /** Asks by a connection that is open already: whoever only looks on opens none. Undefined where there is none. */
  look(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> | undefined {
    const open = this.#connections.all.find(({ supervised }) => supervised.current);
    return open?.supervised.current?.call({ method, params, signal });
  }

  /** No longer wanted: closed once the calls under way have ended. */
  async retire(): Promise<void> {
    await Promise.all(this.#connections.all.map(({ supervised }) => supervised.retire()));
  }

  async close(): Promise<void> {
    this.#tasks.close();
    await Promise.all(this.#connections.all.map(({ supervised }) => supervised.close()));
  }

  #leave(client: ClientView, home: Connection): void {
    home.forget(client).catch(() => {}); // a server that is gone has forgotten it already
    const own = this.#connections.drop(client);
    own?.asks.dismiss();
    void own?.supervised.retire();
  }

  get #concerned(): Concerned {
    return { tools: this.#tools, tasks: this.#tasks, taskOwners: this.#taskOwners, audience: this.#audience };
  }

  #supervise(connection: Connection): Supervised {
    const events = {
      onAsk: (ask: Ask, signal: AbortSignal) => this.#onAsk(connection, ask, signal),
      onChange: (change: Change) => hear(change, connection, this.#concerned),
      onNotice: (notification: NotificationMessage) => this.#flow.notice(notification, connection),
    };
    const onOpen = (upstream: Upstream, isAgain: boolean): void => this.#onOpen(connection, upstream, isAgain);
    const onIdle = (): void => this.#connections.forget(connection);
    return superviseUpstream(connection, this.#options, { events, onOpen, onIdle, log: this.#log, clock: this.#clock });
  }

  /** Servers ask for roots as soon as they are connected, when there may be no call, and no client. */
  #onAsk(connection: Connection, ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    if (isInteraction(ask.method)) return this.#flow.put(ask, connection, signal);
    const { roots } = this.#options;
    const isOurs = ask.method === 'roots/list' && connection.hasOurRoots;
    return isOurs && roots ? roots() : connection.asks.put(ask, signal);
  }

  #onOpen(connection: Connection, upstream: Upstream, isAgain: boolean): void {
    const isNews = !this.#server;
    this.#server = upstream.server;
    this.#connections.learn(connection, upstream.server.dialect !== 'handshake');
    if (!this.#audience.isEmpty) upstream.watch();
    if (isAgain) catchUp(upstream, connection, this.#concerned);
    // Whoever is here already has been told nothing of what it offers.
    else if (isNews) LISTS.forEach((kind) => upstream.server.capabilities[kind] && this.#audience.tellAll({ kind }));
  }
}
