// Leases connections to calls: finds the right connection, opens it if necessary, and hands it out until the call ends.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Exchange, ClientView } from '../../../protocol/exchange.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { ServerView, UnattributedChange } from '../../../protocol/server-view.ts';
import { CALL_METHODS, ONE_TASK_METHODS } from '../../../protocol/methods.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { AskHandler } from '../questions/ask-routing.ts';
import { CallHabits, subjectOf, OpenCall } from '../questions/open-call.ts';
import { coalesce } from '../questions/coalesce.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { PASS_THROUGH, handleResult } from '../result-handler.ts';
import type { ResultHandler } from '../result-handler.ts';
import type { TaskOwners } from '../tasks/task-owners.ts';
import type { Upstream } from '../upstream.ts';
import type { CallOwner } from '../questions/open-call.ts';
import { callFromExchange } from '../call-from-exchange.ts';
import type { CallOverrides } from '../call-from-exchange.ts';

/** Methods during which a handshake server may ask. */
const MAY_ASK = new Set([...CALL_METHODS, 'tasks/result']);

export interface ConnectionLeasesOptions {
  clock: Clock;
  timeoutMs: number | undefined;
  taskOwners: TaskOwners;
}

export class ConnectionLeases {
  readonly #connections: ConnectionPool;
  readonly habits: CallHabits = new CallHabits();
  readonly #options: ConnectionLeasesOptions;

  constructor(connections: ConnectionPool, options: ConnectionLeasesOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  send(exchange: Exchange, handler: ResultHandler = PASS_THROUGH): Promise<ResultObject> {
    try {
      const lease = this.lease(exchange);
      if (!(lease instanceof Promise)) return lease.sendOnce(handler);
      return handleResult(
        lease.then((one) => one.sendOnce(PASS_THROUGH)),
        handler,
      );
    } catch (thrown) {
      return handleResult(Promise.reject(thrown), handler);
    }
  }

  /**
   * `put` answers questions that arrive on the connection; default: the client of the exchange. Synchronous if the connection is
   * open.
   */
  lease(
    exchange: Exchange,
    put: AskHandler = (ask, signal) => exchange.ask(ask, signal),
  ): ConnectionLease | Promise<ConnectionLease> {
    const home = this.#connections.homeOf(exchange);
    const { current } = home.supervised;
    return current ? this.#leaseFrom(home, current, exchange, put) : this.#leaseLater(home, exchange, put);
  }

  async #leaseLater({ supervised }: UpstreamConnection, exchange: Exchange, put: AskHandler): Promise<ConnectionLease> {
    const upstream = await supervised.get();
    // Looked up again: the server's first answer may have changed which connection is right.
    return this.#leaseFrom(this.#connections.homeOf(exchange), upstream, exchange, put);
  }

  #leaseFrom(
    home: UpstreamConnection,
    { transport, server }: Upstream,
    exchange: Exchange,
    put: AskHandler,
  ): ConnectionLease | Promise<ConnectionLease> {
    const mayAsk = server.dialect === 'handshake' && MAY_ASK.has(exchange.method);
    const inRounds = exchange.client.dialect === 'stateless' && server.dialect === 'handshake';
    const terms: LeaseTerms = {
      exchange,
      put: inRounds ? coalesce(put, this.#options.clock) : put,
      mayAsk,
      timeoutMs: this.#options.timeoutMs,
      habits: this.habits,
      taskOwners: this.#options.taskOwners,
      onEnd: mayAsk ? this.#giveBack : undefined,
    };
    // On HTTP a question arrives on the stream of its call, unless the server has been seen to ignore that.
    const isNamed = transport === 'streamable-http' && !this.habits.asksUnnamed;
    const connection = this.#placeOfTask(exchange, home) ?? (mayAsk ? this.#place(exchange, home, isNamed) : home);
    return connection instanceof Promise
      ? connection.then((one) => this.#enter(one, terms))
      : this.#enter(connection, terms);
  }

  #enter(connection: UpstreamConnection, terms: LeaseTerms): ConnectionLease | Promise<ConnectionLease> {
    if (connection.isTaken) terms.put = connection.asks.counted(terms.put);
    const lease = new ConnectionLease(connection, terms);
    const { logLevel } = terms.exchange;
    lease.upstream = connection.supervised.current;
    const isReady = lease.upstream && !logLevel && (connection.asks.held.isEmpty || !lease.mayAsk);
    return isReady ? lease : this.#prepare(lease, logLevel);
  }

  async #prepare(lease: ConnectionLease, level: LoggingLevel | undefined): Promise<ConnectionLease> {
    const { connection } = lease;
    try {
      lease.upstream ??= await connection.supervised.get();
      if (level) await setLevel(connection, lease.upstream.server, level);
      if (lease.mayAsk && !connection.asks.held.isEmpty) await connection.asks.held.release(lease.put);
      return lease;
    } catch (thrown) {
      lease.release();
      throw thrown;
    }
  }

  #placeOfTask(
    { method, params: { taskId }, client }: Exchange,
    home: UpstreamConnection,
  ): UpstreamConnection | undefined {
    if (!ONE_TASK_METHODS.has(method)) return undefined;
    const { taskOwners } = this.#options;
    const connection = taskOwners.connectionOf(taskId, client);
    const isForeign = taskOwners.isForeign(taskId, client, connection ?? home);
    if (isForeign) throw new GatewayError('TASK_NOT_FOUND', { taskId });
    return connection;
  }

  /** Calls share a connection and run side by side there, except those that are known to ask. */
  #place(
    exchange: Exchange,
    home: UpstreamConnection,
    isNamed: boolean,
  ): UpstreamConnection | Promise<UpstreamConnection> {
    const { client, expectsQuestions } = exchange;
    // On a client's own connection a call is alone unless the client makes another one.
    const isWatched = !isNamed && client.assisted?.elicitation && (home.isShared || !home.asks.isFree);
    if (isWatched && (expectsQuestions || this.habits.asks(subjectOf(exchange)))) {
      return this.#connections.takeAlone(client);
    }
    if (home.isShared) return this.#connections.calm(client, home);
    return isNamed ? home : this.#connections.take(client, this.habits.isQuiet(subjectOf(exchange)));
  }

  readonly #giveBack = (connection: UpstreamConnection): void => this.#connections.giveBack(connection);
}

/** Stateless servers get the level with each call instead. */
async function setLevel(connection: UpstreamConnection, server: ServerView, level: LoggingLevel): Promise<void> {
  if (server.dialect === 'handshake' && server.capabilities.logging) await connection.setLevel(level);
}

export type Send = (wanted?: CallOverrides) => Promise<ResultObject>;

interface LeaseTerms {
  exchange: Exchange;
  put: AskHandler;
  /** Whether the server may ask the client during the call. */
  mayAsk: boolean;
  timeoutMs: number | undefined;
  habits: CallHabits;
  taskOwners: TaskOwners;
  /** Called when the call no longer needs the connection. */
  onEnd: ((connection: UpstreamConnection) => void) | undefined;
}

/**
 * A connection leased by one call; questions that arrive on it go to the client of the call. It is one object because every call makes one: a
 * closure for each operation would cost more than the message.
 */
export class ConnectionLease implements CallOwner {
  readonly connection: UpstreamConnection;
  readonly client: ClientView;
  readonly put: AskHandler;
  upstream: Upstream | undefined;
  readonly #terms: LeaseTerms;
  #isOver = false;

  constructor(connection: UpstreamConnection, terms: LeaseTerms) {
    this.connection = connection;
    this.client = terms.exchange.client;
    this.put = terms.put;
    this.#terms = terms;
    connection.supervised.take();
  }

  get mayAsk(): boolean {
    return this.#terms.mayAsk;
  }

  get isGone(): boolean {
    const { cancellation, signal } = this.#terms.exchange;
    return this.#isOver || (cancellation ?? signal).aborted;
  }

  tell(said: UnattributedChange): void {
    const { exchange } = this.#terms;
    if (said.kind === 'log') exchange.log(said.entry);
    else exchange.notify(said.method, said.params);
  }

  send(wanted?: CallOverrides): Promise<ResultObject> {
    const { exchange, timeoutMs } = this.#terms;
    const upstream = this.upstream!;
    const tracker = this.#track(wanted);
    const call = callFromExchange({ exchange, server: upstream.server, ask: this.put, timeoutMs, tracker }, wanted);
    this.connection.users.note(this.client, call.method);
    return upstream.relay(call);
  }

  /** Sends one call and releases the connection, also on failure. */
  sendOnce(handler: ResultHandler): Promise<ResultObject> {
    let sent: Promise<ResultObject>;
    try {
      sent = this.send();
    } catch (thrown) {
      sent = Promise.reject(thrown);
    }
    return sent.then(
      (result) => {
        this.release();
        const { exchange, taskOwners } = this.#terms;
        if (exchange.method === 'tools/call') taskOwners.note(result, this.client, this.connection);
        return handler.read(result);
      },
      (thrown: unknown) => {
        this.release();
        return handler.failed(thrown);
      },
    );
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.connection.supervised.giveBack();
    this.#terms.onEnd?.(this.connection);
  }

  #track(wanted: CallOverrides | undefined): OpenCall {
    const { exchange, habits } = this.#terms;
    const { method = exchange.method, params = exchange.params } = wanted ?? {};
    const isAboutTask = method.startsWith('tasks/');
    return new OpenCall(this.connection.asks, this, {
      method,
      subject: method === exchange.method ? subjectOf(exchange) : subjectOf({ method, params }),
      habits,
      taskId: isAboutTask && typeof params.taskId === 'string' ? params.taskId : undefined,
      startsTask: method === 'tools/call' && (wanted?.task ?? exchange.task) !== undefined,
    });
  }
}
