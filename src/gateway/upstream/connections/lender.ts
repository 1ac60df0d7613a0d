// Lends connections to calls. What is asked on a connection while it is lent is asked of the client of the call.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Exchange } from '../../../protocol/exchange.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { ServerView } from '../../../protocol/server-view.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { Put } from '../questions/ask-routing.ts';
import { CallHabits, subjectOf } from '../questions/call-habits.ts';
import { coalesce } from '../questions/coalesce.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { PLAIN, ended } from '../ending.ts';
import type { Ending } from '../ending.ts';
import { Loan } from './loan.ts';
import type { LoanTerms } from './loan.ts';
import type { TaskOwners } from '../tasks/task-owners.ts';
import type { Upstream } from '../upstream.ts';

/** What a handshake server may ask during. */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read', 'tasks/result']);

/** Requests about a task, which go where it runs. */
const OF_TASKS = new Set(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']);

export interface LenderOptions {
  clock: Clock;
  timeoutMs: number | undefined;
  taskOwners: TaskOwners;
}

export class Lender {
  readonly #connections: Connections;
  readonly habits: CallHabits = new CallHabits();
  readonly #options: LenderOptions;

  constructor(connections: Connections, options: LenderOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  send(exchange: Exchange, ending: Ending = PLAIN): Promise<ResultObject> {
    try {
      const loan = this.lend(exchange);
      if (!(loan instanceof Promise)) return loan.sendOnce(ending);
      return ended(
        loan.then((one) => one.sendOnce(PLAIN)),
        ending,
      );
    } catch (thrown) {
      return ended(Promise.reject(thrown), ending);
    }
  }

  /** `put` answers what is asked on it; default: the client of the exchange. At once where nothing has to be waited for. */
  lend(exchange: Exchange, put: Put = (ask, signal) => exchange.ask(ask, signal)): Loan | Promise<Loan> {
    const home = this.#connections.homeOf(exchange);
    const { current } = home.supervised;
    return current ? this.#lendBy(home, current, exchange, put) : this.#lendLater(home, exchange, put);
  }

  async #lendLater({ supervised }: Connection, exchange: Exchange, put: Put): Promise<Loan> {
    const upstream = await supervised.get();
    // Looked for again: the first words of a server may have changed it.
    return this.#lendBy(this.#connections.homeOf(exchange), upstream, exchange, put);
  }

  #lendBy(home: Connection, { transport, server }: Upstream, exchange: Exchange, put: Put): Loan | Promise<Loan> {
    const mayAsk = server.dialect === 'handshake' && MAY_ASK.has(exchange.method);
    const inRounds = exchange.client.dialect === 'stateless' && server.dialect === 'handshake';
    const terms: LoanTerms = {
      exchange,
      put: inRounds ? coalesce(put, this.#options.clock) : put,
      mayAsk,
      timeoutMs: this.#options.timeoutMs,
      habits: this.habits,
      taskOwners: this.#options.taskOwners,
      onEnd: mayAsk ? this.#giveBack : undefined,
    };
    // On HTTP a question comes on the stream of its call, unless the server does not care.
    const isNamed = transport === 'streamable-http' && !this.habits.asksUnnamed;
    const connection = this.#placeOfTask(exchange, home) ?? (mayAsk ? this.#place(exchange, home, isNamed) : home);
    return connection instanceof Promise
      ? connection.then((one) => this.#enter(one, terms))
      : this.#enter(connection, terms);
  }

  #enter(connection: Connection, terms: LoanTerms): Loan | Promise<Loan> {
    if (connection.isTaken) terms.put = connection.asks.counted(terms.put);
    const loan = new Loan(connection, terms);
    const { logLevel } = terms.exchange;
    loan.upstream = connection.supervised.current;
    const isReady = loan.upstream && !logLevel && (connection.asks.held.isEmpty || !loan.mayAsk);
    return isReady ? loan : this.#prepare(loan, logLevel);
  }

  async #prepare(loan: Loan, level: LoggingLevel | undefined): Promise<Loan> {
    const { connection } = loan;
    try {
      loan.upstream ??= await connection.supervised.get();
      if (level) await setLevel(connection, loan.upstream.server, level);
      if (loan.mayAsk && !connection.asks.held.isEmpty) await connection.asks.held.release(loan.put);
      return loan;
    } catch (thrown) {
      loan.end();
      throw thrown;
    }
  }

  #placeOfTask({ method, params: { taskId }, client }: Exchange, home: Connection): Connection | undefined {
    if (!OF_TASKS.has(method)) return undefined;
    const { taskOwners } = this.#options;
    const connection = taskOwners.connectionOf(taskId, client);
    const isForeign = taskOwners.isForeign(taskId, client, connection ?? home);
    if (isForeign) throw new GatewayError('TASK_NOT_FOUND', { taskId });
    return connection;
  }

  /** Calls of clients that share a connection run side by side there, until one of them is known to ask. */
  #place(exchange: Exchange, home: Connection, isNamed: boolean): Connection | Promise<Connection> {
    const { client, expectsQuestions } = exchange;
    // On a connection of its own, a client's call is alone as long as it makes no other.
    const isWatched = !isNamed && client.assisted?.elicitation && (home.isShared || !home.asks.isFree);
    if (isWatched && (expectsQuestions || this.habits.asks(subjectOf(exchange)))) {
      return this.#connections.takeAlone(client);
    }
    if (home.isShared) return this.#connections.calm(client, home);
    return isNamed ? home : this.#connections.take(client, this.habits.isQuiet(subjectOf(exchange)));
  }

  readonly #giveBack = (connection: Connection): void => this.#connections.giveBack(connection);
}

/** Where the level is not said with each call. */
async function setLevel(connection: Connection, server: ServerView, level: LoggingLevel): Promise<void> {
  if (server.dialect === 'handshake' && server.capabilities.logging) await connection.setLevel(level);
}
