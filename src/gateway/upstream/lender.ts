// Lends connections to calls. What is asked on a connection while it is lent is asked of the client of the call.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Put } from './ask-routing.ts';
import { coalesce } from './coalesce.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { PLAIN, ended } from './ending.ts';
import type { Ending } from './ending.ts';
import { Loan } from './loan.ts';
import type { LoanTerms } from './loan.ts';
import type { Upstream } from './upstream.ts';

/** What a handshake server may ask during. */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read', 'tasks/result']);

/** Names come from clients. */
const MAX_LEARNED = 10_000;

export class Lender {
  readonly #connections: Connections;
  /** Tools that have asked. */
  readonly #asking = new Set<string>();
  readonly #options: { clock: Clock; timeoutMs: number | undefined };

  constructor(connections: Connections, options: { clock: Clock; timeoutMs: number | undefined }) {
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
    const mayAsk = MAY_ASK.has(exchange.method);
    const inRounds = exchange.client.dialect === 'stateless' && server.dialect === 'handshake';
    // On HTTP a question comes on the stream of its call, unless the server is one that does not care.
    const isAlone = mayAsk && (transport !== 'streamable-http' || home.asks.areUnnamed);
    const terms: LoanTerms = {
      exchange,
      put: inRounds ? coalesce(put, this.#options.clock) : put,
      mayAsk,
      timeoutMs: this.#options.timeoutMs,
      onAsked: this.#learn,
      onAloneNoMore: isAlone ? this.#giveBack : undefined,
    };
    const connection = isAlone ? this.#alone(exchange, home) : home;
    return connection instanceof Promise
      ? connection.then((one) => this.#enter(one, terms))
      : this.#enter(connection, terms);
  }

  #enter(connection: Connection, terms: LoanTerms): Loan | Promise<Loan> {
    const loan = new Loan(connection, terms);
    const { logLevel } = terms.exchange;
    loan.upstream = connection.supervised.current;
    return loan.upstream && !logLevel ? loan : this.#prepare(loan, logLevel);
  }

  async #prepare(loan: Loan, level: LoggingLevel | undefined): Promise<Loan> {
    const { connection } = loan;
    try {
      loan.upstream ??= await connection.supervised.get();
      if (level) await setLevel(connection, loan.upstream.server, level);
      return loan;
    } catch (thrown) {
      loan.end();
      throw thrown;
    }
  }

  /** Calls of clients that share a connection run side by side there, until one of them is known to ask. */
  #alone({ client, params, expectsQuestions }: Exchange, home: Connection): Connection | Promise<Connection> {
    if (!client.assisted?.elicitation || !home.isShared) return this.#connections.take(client);
    return expectsQuestions || this.#asking.has(String(params.name))
      ? this.#connections.takeAlone(client)
      : this.#connections.undisputed(client, home);
  }

  readonly #giveBack = (connection: Connection): void => this.#connections.giveBack(connection);

  readonly #learn = ({ method, params }: Exchange): void => {
    if (method === 'tools/call' && this.#asking.size < MAX_LEARNED) this.#asking.add(String(params.name));
  };
}

/** Where the level is not said with each call. */
async function setLevel(connection: Connection, server: ServerView, level: LoggingLevel): Promise<void> {
  if (server.dialect === 'handshake' && server.capabilities.logging) await connection.setLevel(level);
}
