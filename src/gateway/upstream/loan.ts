// A connection in the hands of one call. What is asked on it meanwhile is asked of the client of the call. One object, made for
// every call: functions for all that can be done with it would outweigh the message.
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import type { Caller, Put } from './ask-routing.ts';
import type { Connection } from './connection.ts';
import type { Ending } from './ending.ts';
import { toCall } from './to-call.ts';
import type { Wanted } from './to-call.ts';
import type { Upstream } from './upstream.ts';

export type Send = (wanted?: Wanted) => Promise<ResultObject>;

export interface LoanTerms {
  exchange: Exchange;
  put: Put;
  /** The server may ask during it. */
  mayAsk: boolean;
  timeoutMs: number | undefined;
  /** The call has asked. */
  onAsked: (exchange: Exchange) => void;
  /** The call was alone on the connection, and is no longer. */
  onAloneNoMore: ((connection: Connection) => void) | undefined;
}

export class Loan implements Caller {
  readonly connection: Connection;
  readonly client: ClientView;
  readonly put: Put;
  upstream: Upstream | undefined;
  readonly #terms: LoanTerms;
  readonly #place: number | undefined;
  #isOver = false;

  constructor(connection: Connection, terms: LoanTerms) {
    this.connection = connection;
    this.client = terms.exchange.client;
    this.put = terms.put;
    this.#terms = terms;
    this.#place = terms.mayAsk ? connection.asks.enter(this) : undefined;
    connection.supervised.take();
  }

  onAsked(): void {
    this.#terms.onAsked(this.#terms.exchange);
  }

  send(wanted?: Wanted): Promise<ResultObject> {
    const { exchange, timeoutMs } = this.#terms;
    const upstream = this.upstream!;
    return upstream.relay(toCall({ exchange, server: upstream.server, ask: this.put, timeoutMs }, wanted));
  }

  /** One call, and the connection is given back, whatever goes wrong. */
  sendOnce(ending: Ending): Promise<ResultObject> {
    let sent: Promise<ResultObject>;
    try {
      sent = this.send();
    } catch (thrown) {
      sent = Promise.reject(thrown);
    }
    return sent.then(
      (result) => {
        this.end();
        return ending.read(result);
      },
      (thrown: unknown) => {
        this.end();
        return ending.failed(thrown);
      },
    );
  }

  /** To be called when it is not needed any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { asks, supervised } = this.connection;
    if (this.#place !== undefined) asks.leave(this.#place);
    supervised.giveBack();
    this.#terms.onAloneNoMore?.(this.connection);
  }
}
