// One connection to a server and what is wished of it: calls, subscriptions, a log level. A connection that was lost and is
// opened again is given all that once more, and those who watch are told that something may have been missed.
import type { ClientCapabilities, LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { SubscribeOptions } from '../../../protocol/server-view.ts';
import type { Clock } from '../../../shared/clock.ts';
import { isAtLeast, isLogLevel } from '../../dialect/log-level.ts';
import type { SpokenEra } from '../../dialect/revisions.ts';
import { AskRouting } from '../questions/ask-routing.ts';
import { ConnectionUsers } from './connection-users.ts';
import type { ClientIntroduction } from './connection-signature.ts';
import type { SupervisedConnection } from './supervised-connection.ts';
import type { Upstream } from '../upstream.ts';

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 60_000;
/** Tasks that are followed at once; the oldest are left to be asked for. */
const MAX_TASKS = 1000;

export class UpstreamConnection {
  /** What is declared on it, where that is done once for all calls. */
  readonly capabilities: ClientCapabilities;
  /** Its clients name no roots, and the configured ones are declared for them. */
  readonly hasOurRoots: boolean;
  /** The client in whose name it is opened; undefined: the gateway. */
  readonly introduction: ClientIntroduction | undefined;
  readonly asks: AskRouting;
  readonly users: ConnectionUsers = new ConnectionUsers();
  /** The era to try first when it is opened. */
  era: SpokenEra;
  /** Whose it is; undefined where it is shared. */
  principal: string | undefined;
  readonly supervised: SupervisedConnection;
  /** Taken by a call that must be alone on it. */
  isTaken = false;
  /** It was used for more than lists: the server may remember things for those who share it. */
  hasServedCalls = false;
  /** The server was told something that holds for none of its clients, such as that there are no roots. */
  isForNobody = false;
  readonly #wanted = new Map<string, Set<ClientView>>();
  readonly #tasks = new Set<string>();
  #level: LoggingLevel | undefined;

  constructor(
    { era, capabilities, hasOurRoots, introduction, principal, isExpecting, clock }: UpstreamConnectionOptions,
    supervise: (connection: UpstreamConnection) => SupervisedConnection,
  ) {
    this.era = era;
    this.capabilities = capabilities;
    this.hasOurRoots = hasOurRoots;
    this.introduction = introduction;
    this.principal = principal;
    this.asks = new AskRouting({
      ...{ capabilities, isExpecting, clock },
      isShared: () => this.isShared,
      asksByRequest: () => this.supervised.current?.server.dialect === 'handshake',
      onWorn: (isWorn) => (this.supervised.isWorn = isWorn),
    });
    this.supervised = supervise(this);
  }

  get isShared(): boolean {
    return this.principal === undefined;
  }

  /** A new one is as good as this one: its client can open it again, or it has served nothing but lists. */
  get isReplaceable(): boolean {
    return !this.isShared || !this.hasServedCalls;
  }

  /** The resources that somebody is subscribed to. */
  get uris(): string[] {
    return [...this.#wanted.keys()];
  }

  /** Whether a client that is subscribed to something passes the test. */
  hasSubscriber(test: (client: ClientView) => boolean): boolean {
    return [...this.#wanted.values()].some((clients) => [...clients].some(test));
  }

  /** Subscribes or unsubscribes a client. Its request and the server's result pass whole, where it reaches the server. */
  handleSubscription({ method, params, trace, client }: Exchange): Promise<JsonObject> {
    const uri = params.uri as string;
    const said = { params, trace };
    this.users.note(client, method);
    return method === 'resources/subscribe' ? this.#subscribe(uri, client, said) : this.#unsubscribe(uri, client, said);
  }

  /** Only the first client that wants the resource causes a request to the server. */
  async #subscribe(uri: string, client: ClientView, said: SubscribeOptions): Promise<JsonObject> {
    const wanted = this.#wanted.get(uri);
    if (wanted) {
      wanted.add(client);
      return {};
    }
    this.#wanted.set(uri, new Set([client]));
    try {
      return await this.supervised.use((upstream) => upstream.subscribe(uri, said));
    } catch (thrown) {
      this.#wanted.delete(uri);
      throw thrown;
    }
  }

  /** Only the last client that leaves the resource causes a request to the server. */
  async #unsubscribe(uri: string, client: ClientView, said?: SubscribeOptions): Promise<JsonObject> {
    const wanted = this.#wanted.get(uri);
    if (!wanted?.delete(client) || wanted.size > 0) return {};
    this.#wanted.delete(uri);
    return this.supervised.current ? this.supervised.use((upstream) => upstream.unsubscribe(uri, said)) : {};
  }

  /** Until it has ended: who else wants to know of it makes no difference to the server. */
  async followTask(taskId: string): Promise<void> {
    this.#tasks.add(taskId);
    const [oldest] = this.#tasks;
    if (this.#tasks.size > MAX_TASKS) this.#tasks.delete(oldest!);
    try {
      await this.supervised.use((upstream) => upstream.followTask(taskId));
    } catch (thrown) {
      this.#tasks.delete(taskId);
      throw thrown;
    }
  }

  forgetTask(taskId: string): void {
    this.#tasks.delete(taskId);
  }

  /** The client is gone. */
  async forget(client: ClientView): Promise<void> {
    await Promise.all(this.uris.map((uri) => this.#unsubscribe(uri, client)));
  }

  /**
   * Makes the server log from this level on. On a shared connection only ever more of it: each client is told what it wants
   * of it. A server that knows no levels logs as it likes.
   */
  async setLevel(level: LoggingLevel): Promise<void> {
    const known = this.#level;
    if (known === level || (known !== undefined && this.isShared && isAtLeast(level, known))) return;
    this.#level = level;
    await this.supervised.use((upstream) => upstream.setLogLevel(level)).catch(() => {});
  }

  /** The same in the name of a client that chose it: what the server says of it is for the client. */
  async tellLevel(level: unknown): Promise<void> {
    if (isLogLevel(level)) await this.setLevel(level);
    else await this.supervised.use((upstream) => upstream.call({ method: 'logging/setLevel', params: { level } }));
  }

  /** Other roots are configured: a server that knows them may ask again. */
  tellRootsChanged(): void {
    const { current } = this.supervised;
    if (!this.hasOurRoots || current?.server.dialect !== 'handshake') return;
    current.notify('notifications/roots/list_changed').catch(() => {}); // one that is gone asks when it is back
  }

  /** It is open, for the first time or again. Clients with subscriptions use the new one too. */
  resetUsers(): void {
    this.users.clear();
    for (const clients of this.#wanted.values()) {
      for (const client of clients) this.users.note(client, 'resources/subscribe');
    }
  }

  /** It was lost while somebody waits for news of a resource: it is opened again before it is needed for a call. */
  reopen(clock: Clock, pauseMs = FIRST_PAUSE_MS): void {
    if (this.uris.length === 0) return;
    clock.after(pauseMs, () => {
      if (this.supervised.isClosed) return;
      this.supervised.get().catch(() => this.reopen(clock, Math.min(2 * pauseMs, LAST_PAUSE_MS)));
    });
  }

  /** It was opened again: the new connection knows nothing of the old one's wishes. */
  async repeatTo(upstream: Upstream): Promise<void> {
    const told: Promise<unknown>[] = this.uris.map((uri) => upstream.subscribe(uri));
    for (const taskId of this.#tasks) told.push(upstream.followTask(taskId));
    if (this.#level !== undefined) told.push(upstream.setLogLevel(this.#level));
    await Promise.allSettled(told);
  }
}

export interface UpstreamConnectionOptions {
  era: SpokenEra;
  capabilities: ClientCapabilities;
  hasOurRoots: boolean;
  introduction: ClientIntroduction | undefined;
  principal: string | undefined;
  /** A client will come that can be asked outside of calls. */
  isExpecting: boolean;
  clock: Clock;
}
