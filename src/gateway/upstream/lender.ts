// Lends connections to calls. What is asked on a connection while it is lent is asked of the client of the call.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
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

  async send(exchange: Exchange): Promise<ResultObject> {
    const { send, end } = await this.lend(exchange);
    try {
      return await send();
    } finally {
      end();
    }
  }

  /** `put` answers what is asked on it; default: the client of the exchange. */
  async lend(exchange: Exchange, put: Put = (ask, signal) => exchange.ask(ask, signal)): Promise<Lent> {
    const { clock, timeoutMs } = this.#options;
    const mayAsk = MAY_ASK.has(exchange.method);
    const { transport, server } = await this.#reach(exchange.client);
    const home = this.#connections.home(exchange.client); // only now: the first words of a server may have changed it
    const inRounds = exchange.client.dialect === 'stateless' && server.dialect === 'handshake';
    const ask = inRounds ? coalesce(put, clock) : put;
    // On HTTP a question comes on the stream of its call, unless the server is one that does not care.
    const isAlone = mayAsk && (transport !== 'streamable-http' || home.asks.areUnnamed);
    const connection = isAlone ? await this.#alone(exchange) : home;
    const leave = mayAsk ? connection.asks.enter(ask, exchange.client, () => this.#learn(exchange)) : () => {};
    const release = connection.supervised.hold();
    const end = (): void => {
      leave();
      release();
      if (isAlone) this.#connections.giveBack(connection);
    };
    try {
      const upstream = connection.supervised.current ?? (await connection.supervised.get());
      if (exchange.logLevel) await setLevel(connection, upstream.server, exchange.logLevel);
      const calling = { exchange, server: upstream.server, ask, timeoutMs };
      return { connection, end, send: (wanted) => upstream.relay(toCall(calling, wanted)) };
    } catch (thrown) {
      end();
      throw thrown;
    }
  }

  /** Calls of clients that share a connection run side by side there, until one of them is known to ask. */
  async #alone({ client, params, expectsQuestions }: Exchange): Promise<Connection> {
    if (!client.assisted?.elicitation || !this.#connections.home(client).isShared)
      return this.#connections.take(client);
    return expectsQuestions || this.#asking.has(String(params.name))
      ? this.#connections.takeAlone(client)
      : this.#connections.undisputed(client);
  }

  #learn({ method, params }: Exchange): void {
    if (method === 'tools/call' && this.#asking.size < MAX_LEARNED) this.#asking.add(String(params.name));
  }

  async #reach(client: ClientView): Promise<Upstream> {
    const { supervised } = this.#connections.home(client);
    return supervised.current ?? supervised.get();
  }
}

/** Where the level is not said with each call. */
async function setLevel(connection: Connection, server: ServerView, level: LoggingLevel): Promise<void> {
  if (server.dialect === 'handshake' && server.capabilities.logging) await connection.setLevel(level);
}
