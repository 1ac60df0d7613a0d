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
import { toCall } from './to-call.ts';
import type { Wanted } from './to-call.ts';
import type { Upstream } from './upstream.ts';

export type Send = (wanted?: Wanted) => Promise<ResultObject>;

export interface Lent {
  connection: Connection;
  send: Send;
  /** To be called when it is not needed any more. */
  end: () => void;
}

/** What is made of the answer to a call, or of its failure, once the connection is given back. */
export interface Ending {
  read(result: ResultObject): ResultObject;
  failed(thrown: unknown): ResultObject | Promise<ResultObject>;
}

export const PLAIN: Ending = {
  read: (result) => result,
  failed: (thrown) => Promise.reject(thrown),
};

/** A call that is about to have its connection. */
interface Entering {
  exchange: Exchange;
  ask: Put;
  mayAsk: boolean;
  isAlone: boolean;
}

/** One that has it. */
interface Entered {
  connection: Connection;
  exchange: Exchange;
  ask: Put;
  end: () => void;
}

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
      const lent = this.lend(exchange);
      if (!(lent instanceof Promise)) return sendOnce(lent, ending);
      const answer = lent.then((one) => sendOnce(one, PLAIN));
      return ended(answer, ending);
    } catch (thrown) {
      return ended(Promise.reject(thrown), ending);
    }
  }

  /** `put` answers what is asked on it; default: the client of the exchange. At once where nothing has to be waited for. */
  lend(exchange: Exchange, put: Put = (ask, signal) => exchange.ask(ask, signal)): Lent | Promise<Lent> {
    const home = this.#connections.home(exchange.client);
    const { current } = home.supervised;
    return current ? this.#lendBy(home, current, exchange, put) : this.#lendLater(home, exchange, put);
  }

  async #lendLater({ supervised }: Connection, exchange: Exchange, put: Put): Promise<Lent> {
    const upstream = await supervised.get();
    // Looked for again: the first words of a server may have changed it.
    return this.#lendBy(this.#connections.home(exchange.client), upstream, exchange, put);
  }

  #lendBy(home: Connection, { transport, server }: Upstream, exchange: Exchange, put: Put): Lent | Promise<Lent> {
    const mayAsk = MAY_ASK.has(exchange.method);
    const inRounds = exchange.client.dialect === 'stateless' && server.dialect === 'handshake';
    const ask = inRounds ? coalesce(put, this.#options.clock) : put;
    // On HTTP a question comes on the stream of its call, unless the server is one that does not care.
    const isAlone = mayAsk && (transport !== 'streamable-http' || home.asks.areUnnamed);
    const connection = isAlone ? this.#alone(exchange, home) : home;
    if (connection instanceof Promise)
      return connection.then((one) => this.#enter(one, { exchange, ask, mayAsk, isAlone }));
    return this.#enter(connection, { exchange, ask, mayAsk, isAlone });
  }

  #enter(connection: Connection, { exchange, ask, mayAsk, isAlone }: Entering): Lent | Promise<Lent> {
    const leave = mayAsk ? connection.asks.enter(ask, exchange.client, () => this.#learn(exchange)) : undefined;
    const release = connection.supervised.hold();
    const end = (): void => {
      leave?.();
      release();
      if (isAlone) this.#connections.giveBack(connection);
    };
    const { current } = connection.supervised;
    if (current && !exchange.logLevel) return this.#toLent(current, { connection, exchange, ask, end });
    return this.#prepare(connection, exchange.logLevel).then(
      (upstream) => this.#toLent(upstream, { connection, exchange, ask, end }),
      (thrown: unknown) => {
        end();
        throw thrown;
      },
    );
  }

  async #prepare(connection: Connection, level: LoggingLevel | undefined): Promise<Upstream> {
    const upstream = connection.supervised.current ?? (await connection.supervised.get());
    if (level) await setLevel(connection, upstream.server, level);
    return upstream;
  }

  #toLent(upstream: Upstream, { connection, exchange, ask, end }: Entered): Lent {
    const calling = { exchange, server: upstream.server, ask, timeoutMs: this.#options.timeoutMs };
    return { connection, end, send: (wanted) => upstream.relay(toCall(calling, wanted)) };
  }

  /** Calls of clients that share a connection run side by side there, until one of them is known to ask. */
  #alone({ client, params, expectsQuestions }: Exchange, home: Connection): Connection | Promise<Connection> {
    if (!client.assisted?.elicitation || !home.isShared) return this.#connections.take(client);
    return expectsQuestions || this.#asking.has(String(params.name))
      ? this.#connections.takeAlone(client)
      : this.#connections.undisputed(client, home);
  }

  #learn({ method, params }: Exchange): void {
    if (method === 'tools/call' && this.#asking.size < MAX_LEARNED) this.#asking.add(String(params.name));
  }
}

/** For what has not been ended by `send`. */
export function ended(answer: Promise<ResultObject>, ending: Ending): Promise<ResultObject> {
  return answer.then(
    (result) => ending.read(result),
    (thrown: unknown) => ending.failed(thrown),
  );
}

function sendOnce({ send, end }: Lent, ending: Ending): Promise<ResultObject> {
  return started(send).then(
    (result) => {
      end();
      return ending.read(result);
    },
    (thrown: unknown) => {
      end();
      return ending.failed(thrown);
    },
  );
}

/** Whatever goes wrong, the connection is given back. */
function started(send: Send): Promise<ResultObject> {
  try {
    return send();
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** Where the level is not said with each call. */
async function setLevel(connection: Connection, server: ServerView, level: LoggingLevel): Promise<void> {
  if (server.dialect === 'handshake' && server.capabilities.logging) await connection.setLevel(level);
}
