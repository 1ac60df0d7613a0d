// One connection to a server with its state for clients: who asks, who uses it, and who has subscribed to what. After a reconnection
// the subscriptions are restored, and watchers learn that they may have missed changes.
import type { ClientCapabilities, LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { SubscribeOptions } from '../../../kernel/server-view.ts';
import { ROOTS_CHANGED, SET_LOG_LEVEL, SUBSCRIBE_RESOURCE, methodsWhere } from '../../../kernel/methods.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { isAtLeast, isLogLevel } from '../../../mcp/eras/notifications.ts';
import type { SpokenEra } from '../../../kernel/era/era.ts';
import { AskRouting } from '../questions/ask-routing.ts';
import type { ClientIntroduction } from '../../../mcp/connect/connected-server.ts';
import { ServerSubscriptions } from '../../../mcp/connect/server-subscriptions.ts';
import { FirstCalls } from './first-calls.ts';
import type { SupervisedConnection } from './supervised-connection.ts';

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 60_000;

export class UpstreamConnection {
  /** The capabilities declared once for all calls. */
  readonly capabilities: ClientCapabilities;
  /** Its clients have no roots, so the configured ones are declared for them. */
  readonly hasOurRoots: boolean;
  /** The client that opens it; undefined for the gateway itself. */
  readonly introduction: ClientIntroduction | undefined;
  readonly asks: AskRouting;
  /** Of clients that can be asked, while they share it. */
  readonly firstCalls: FirstCalls;
  readonly users: ConnectionUsers = new ConnectionUsers();
  readonly subscriptions: ServerSubscriptions = new ServerSubscriptions();
  /** The era to try first. */
  era: SpokenEra;
  readonly supervised: SupervisedConnection;
  /** Reserved for a call that must be alone on it. */
  isTaken = false;
  /** It has served more than lists, so the server may keep state for its clients. Set by `noteCalls`. */
  hasServedCalls = false;
  /** The server got an answer that is true for none of its clients, such as that there are no roots. */
  isForNobody = false;
  #isForAskable: boolean;
  #principal: string | undefined;

  constructor(
    {
      era,
      capabilities,
      hasOurRoots,
      introduction,
      principal,
      isForAskable,
      isExpecting,
      clock,
    }: UpstreamConnectionOptions,
    supervise: (connection: UpstreamConnection) => SupervisedConnection,
  ) {
    this.era = era;
    this.capabilities = capabilities;
    this.hasOurRoots = hasOurRoots;
    this.introduction = introduction;
    this.#isForAskable = isForAskable;
    this.#principal = principal;
    this.firstCalls = new FirstCalls(clock);
    this.asks = new AskRouting({
      onUnnamed: () => this.firstCalls.wake(),
      capabilities,
      isExpecting,
      clock,
      isShared: () => this.isShared,
      asksByRequest: () => this.supervised.current?.server.era.asksByRequest ?? false,
      onWorn: (isWorn) => (this.supervised.isWorn = isWorn),
    });
    this.supervised = supervise(this);
  }

  /** The owner; undefined if it is shared. */
  get principal(): string | undefined {
    return this.#principal;
  }

  set principal(principal: string | undefined) {
    this.#principal = principal;
    this.#decideReplaceable();
  }

  get isShared(): boolean {
    return this.#principal === undefined;
  }

  /** It is the connection of all clients from now on. */
  serveAll(): void {
    this.#isForAskable = false;
    this.principal = undefined;
  }

  /** Called for the first request that is not a list. */
  noteCalls(): void {
    this.hasServedCalls = true;
    this.#decideReplaceable();
  }

  /** A new connection does as well if its client can reopen it, or if it has served only lists. */
  get mayMakeRoom(): boolean {
    return !this.isShared || !this.hasServedCalls;
  }

  /** Clients that can be asked may declare all kinds of things: a connection that they share goes with the last of them, as one of their own would. */
  #decideReplaceable(): void {
    this.supervised.isReplaceable = this.mayMakeRoom || this.#isForAskable;
  }

  /** Nothing is lost with it: it serves nobody, and no attempt to open it has failed. */
  get isUntouched(): boolean {
    const { isLive, isUsed, isLingering, failure } = this.supervised;
    return !this.hasServedCalls && this.uris.length === 0 && !isLive && !isUsed && !isLingering && !failure;
  }

  /** The resources with subscribers. */
  get uris(): string[] {
    return this.subscriptions.uris;
  }

  hasSubscriber(test: (client: ClientView) => boolean): boolean {
    return (this.subscriptions.subscribers as ClientView[]).some(test);
  }

  /**
   * Subscribes or unsubscribes a client. A request that reaches the server keeps all its params, and its result is returned
   * whole.
   */
  handleSubscription({ method, params, trace, client }: Exchange): Promise<JsonObject> {
    const uri = params.uri as string;
    const said = { params, trace };
    this.users.note(client, method);
    return method === SUBSCRIBE_RESOURCE ? this.#subscribe(uri, client, said) : this.#unsubscribe(uri, client, said);
  }

  /** Only the first subscriber of a resource causes a request to the server, and all of them get its result. */
  #subscribe(uri: string, client: ClientView, said: SubscribeOptions): Promise<JsonObject> {
    return this.subscriptions.add(uri, client, () =>
      // All of them may have left while the connection was opened.
      this.supervised.use(async (connected) =>
        this.subscriptions.has(uri) ? connected.tellSubscribed(uri, said) : {},
      ),
    );
  }

  /** Only the last subscriber of a resource causes a request to the server. */
  async #unsubscribe(uri: string, client: ClientView, said?: SubscribeOptions): Promise<JsonObject> {
    if (!this.subscriptions.remove(uri, client) || !this.supervised.current) return {};
    return this.supervised.use((connected) => connected.tellUnsubscribed(uri, said));
  }

  followTask(taskId: string): Promise<void> {
    return this.supervised.use((connected) => connected.followTask(taskId));
  }

  async forget(client: ClientView): Promise<void> {
    await Promise.all(this.uris.map((uri) => this.#unsubscribe(uri, client)));
  }

  /** The client has a connection of its own from now on, and its subscriptions go with it. */
  async handOver(client: ClientView, own: UpstreamConnection): Promise<void> {
    const uris = this.subscriptions.urisOf(client);
    await Promise.all(uris.flatMap((uri) => [own.#subscribe(uri, client, {}), this.#unsubscribe(uri, client)]));
  }

  /**
   * Sets the server's log level. On a shared connection the level only ever becomes more verbose, and each client's own level
   * filters the messages. A server without levels ignores it.
   */
  async setLevel(level: LoggingLevel): Promise<void> {
    const { logLevel: known } = this.subscriptions;
    if (known === level || (known !== undefined && this.isShared && isAtLeast(level, known))) return;
    // Kept before it is sent: the answer may come after that to a later level.
    this.subscriptions.logLevel = level;
    await this.supervised.use((connected) => connected.tellLogLevel(level)).catch(() => {});
  }

  /** The same on behalf of a client, which gets the server's error. */
  async tellLevel(level: unknown): Promise<void> {
    if (isLogLevel(level)) await this.setLevel(level);
    else await this.supervised.use((connected) => connected.call({ method: SET_LOG_LEVEL, params: { level } }));
  }

  /** Called when other roots are configured: a server that knows the old ones may ask again. */
  tellRootsChanged(): void {
    const { current } = this.supervised;
    if (!this.hasOurRoots || !current?.server.era.reportsRoots) return;
    current.notify(ROOTS_CHANGED).catch(() => {}); // a lost server asks when it is back
  }

  /** Called when the connection opens. Subscribed clients count as users of the new one. */
  resetUsers(): void {
    this.users.clear();
    for (const client of this.subscriptions.subscribers) this.users.note(client as ClientView, SUBSCRIBE_RESOURCE);
  }

  /** Reopens a lost connection that has subscribers, before a call needs it. */
  reopen(clock: Clock, pauseMs = FIRST_PAUSE_MS): void {
    if (this.uris.length === 0) return;
    clock.after(pauseMs, () => {
      if (this.supervised.isClosed) return;
      this.supervised.get().catch(() => this.reopen(clock, Math.min(2 * pauseMs, LAST_PAUSE_MS)));
    });
  }
}

export interface UpstreamConnectionOptions {
  era: SpokenEra;
  capabilities: ClientCapabilities;
  hasOurRoots: boolean;
  introduction: ClientIntroduction | undefined;
  principal: string | undefined;
  /** Whether its clients can be asked. */
  isForAskable: boolean;
  /** Whether a client is about to come that can be asked outside of calls. */
  isExpecting: boolean;
  clock: Clock;
}

/** These return what the server offers to everyone, or nothing. The gateway also sends them itself. */
const IMPERSONAL: ReadonlySet<string> = new Set(methodsWhere(({ impersonal }) => impersonal));

const SEVERAL = Symbol('several clients');

/**
 * Remembers whether one client or several have used an open connection. A server may mention a call long after its answer, when the client has
 * left, so users are remembered until the connection is reopened.
 */
export class ConnectionUsers {
  /** A stateless client is known by its principal, because each of its requests creates a new client object. */
  #user: ClientView | string | typeof SEVERAL | undefined;

  note(client: ClientView, method: string): void {
    const key = client.era.hasSession ? client : client.principal;
    if (this.#user === key || this.#user === SEVERAL || IMPERSONAL.has(method)) return;
    this.#user = this.#user === undefined ? key : SEVERAL;
  }

  /** Whether no other client has used the connection since it was opened. */
  isAlone(client: ClientView): boolean {
    return this.#user === undefined || this.#user === (client.era.hasSession ? client : client.principal);
  }

  /** Called when the connection is reopened: the server no longer knows its former users. */
  clear(): void {
    this.#user = undefined;
  }
}
