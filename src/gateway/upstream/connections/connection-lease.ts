// A connection leased by one call; questions that arrive on it go to the client of the call. It is one object because every call
// makes one: a closure for each operation would cost more than the message.
import type { ClientView, Exchange } from '../../../protocol/exchange.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { UnattributedChange } from '../../../protocol/server-view.ts';
import type { AskHandler } from '../questions/ask-routing.ts';
import { subjectOf, OpenCall } from '../questions/open-call.ts';
import type { CallHabits, CallOwner } from '../questions/open-call.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { ResultHandler } from '../result-handler.ts';
import type { TaskOwners } from '../tasks/task-owners.ts';
import { callFromExchange } from '../call-from-exchange.ts';
import type { CallOverrides } from '../call-from-exchange.ts';
import type { Upstream } from '../upstream.ts';

export type Send = (wanted?: CallOverrides) => Promise<ResultObject>;

export interface LeaseTerms {
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
