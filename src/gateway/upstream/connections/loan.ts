// A connection in the hands of one call. What the call asks on it is asked of its client. One object, made for every call: functions
// for all that can be done with it would outweigh the message.
import type { ClientView, Exchange } from '../../../protocol/exchange.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { UnattributedChange } from '../../../protocol/server-view.ts';
import type { Put } from '../questions/ask-routing.ts';
import { subjectOf } from '../questions/call-habits.ts';
import type { CallHabits } from '../questions/call-habits.ts';
import type { Connection } from './connection.ts';
import type { Ending } from '../ending.ts';
import { OpenCall } from '../questions/open-call.ts';
import type { Caller } from '../questions/open-call.ts';
import type { TaskOwners } from '../tasks/task-owners.ts';
import { toCall } from '../to-call.ts';
import type { Wanted } from '../to-call.ts';
import type { Upstream } from '../upstream.ts';

export type Send = (wanted?: Wanted) => Promise<ResultObject>;

export interface LoanTerms {
  exchange: Exchange;
  put: Put;
  /** The client can be asked during it. */
  mayAsk: boolean;
  timeoutMs: number | undefined;
  habits: CallHabits;
  taskOwners: TaskOwners;
  /** The call does not need the connection any more. */
  onEnd: ((connection: Connection) => void) | undefined;
}

export class Loan implements Caller {
  readonly connection: Connection;
  readonly client: ClientView;
  readonly put: Put;
  upstream: Upstream | undefined;
  readonly #terms: LoanTerms;
  #isOver = false;

  constructor(connection: Connection, terms: LoanTerms) {
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

  send(wanted?: Wanted): Promise<ResultObject> {
    const { exchange, timeoutMs } = this.#terms;
    const upstream = this.upstream!;
    const tracker = this.#track(wanted);
    const call = toCall({ exchange, server: upstream.server, ask: this.put, timeoutMs, tracker }, wanted);
    this.connection.users.note(this.client, call.method);
    return upstream.relay(call);
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
        const { exchange, taskOwners } = this.#terms;
        if (exchange.method === 'tools/call') taskOwners.note(result, this.client, this.connection);
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
    this.connection.supervised.giveBack();
    this.#terms.onEnd?.(this.connection);
  }

  #track(wanted: Wanted | undefined): OpenCall {
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
