// One call to a server, in the order of what happens: it leases a connection, sends a request, and releases the connection when the
// answer is here. After a login or a visit to a page the call is repeated; a call that must run as a task is sent again as one.
import type { CallNotes } from '../../kernel/events/call-notes.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import { CALL_TOOL, ONE_TASK_METHODS, methodsWhere } from '../../kernel/methods.ts';
import { RawObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { ServerView, UnattributedChange } from '../../kernel/server-view.ts';
import type { Abortable } from '../../kernel/base/cancellation.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import { AGAIN, sendAgain } from '../../mcp/eras/speak/send-again.ts';
import type { UpstreamConnection } from './connections/upstream-connection.ts';
import { isLoginNeeded } from '../../mcp/connect/accounts/server-login.ts';
import type { AskHandler } from './questions/open-call.ts';
import { coalesce } from './questions/coalesce.ts';
import type { CallOwner } from './questions/open-call.ts';
import { PageVisits, isToBeAsked, notDone, refusedPages } from './questions/page-visits.ts';
import { ServerRequest } from './server-request.ts';
import type { CallOverrides } from './server-request.ts';
import { checkCapability } from './target-errors.ts';
import { needsTask } from './tasks/task-support.ts';
import type { ConnectedServer } from '../../mcp/connect/connected-server.ts';
import type { CallContext } from './call-context.ts';

/** Runs calls as tasks of the server. */
interface CallsAsTasks {
  /** Undefined for an ordinary call. */
  callTool(exchange: Exchange, server: ServerView): Promise<ResultObject> | undefined;
  follow(exchange: Exchange, server: ServerView): Promise<ResultObject>;
}

/** What is done for a call that the server does not answer at once. */
export interface CallRules {
  toError(thrown: unknown, exchange: Exchange): unknown;
  /** Waits until the pages with these ids were visited. */
  completed(elicitationIds: readonly string[], signal: Abortable, attempt: number): Promise<void>;
  /** Resolves with the result of a call that was only for the login. */
  logIn?: ((exchange: Exchange) => Promise<ResultObject | undefined>) | undefined;
  tasks: CallsAsTasks;
  /** Plays a tool that the server refuses to run as a call; undefined if the tool cannot be played either. */
  play?: ((exchange: Exchange, refusal: ProtocolError) => Promise<ResultObject | undefined>) | undefined;
}

export interface ServerCallOptions {
  /** Default: failures are passed on. */
  rules?: CallRules | undefined;
  /** The server, if the call may have to run as one of its tasks. */
  taskServer?: ServerView | undefined;
  /** Answers questions that arrive on the connection. Default: the client. */
  ask?: AskHandler | undefined;
}

/** Methods during which a handshake server may ask. */
const MAY_ASK = new Set<string>(methodsWhere(({ asks }) => asks));

const NO_OPTIONS: ServerCallOptions = {};
/** How often a call may have its user log in: the second time with more scopes. */
const MAX_LOGINS = 2;

/** It is one object because every call makes one: a closure for each operation would cost more than the message. */
export class ServerCall implements CallOwner {
  readonly exchange: Exchange;
  readonly client: ClientView;
  /** The connection of the last lease. */
  connection: UpstreamConnection | undefined;
  connected: ConnectedServer | undefined;
  /** Whether the server may ask the client during the call. */
  mayAsk = false;
  ask: AskHandler;
  readonly #askClient: AskHandler;
  readonly context: CallContext;
  readonly #options: ServerCallOptions;
  #isLeased = false;
  /** Made on first use, because most calls need none. */
  #visits: PageVisits | undefined;
  #logins = 0;

  constructor(exchange: Exchange, context: CallContext, options = NO_OPTIONS) {
    this.exchange = exchange;
    this.client = exchange.client;
    this.ask = this.#askClient = options.ask ?? ((ask, signal) => exchange.ask(ask, signal));
    this.context = context;
    this.#options = options;
  }

  /** Sends the request, and again as often as the rules say. */
  send(): Promise<ResultObject> {
    return this.#attempt().then(
      (result) => this.#onResult(result),
      (thrown: unknown) => this.#onFailure(thrown),
    );
  }

  #attempt(): Promise<ResultObject> {
    const { rules, taskServer } = this.#options;
    const task = taskServer && rules?.tasks.callTool(this.exchange, taskServer);
    return task ?? this.#sendOnce();
  }

  #sendOnce(): Promise<ResultObject> {
    try {
      const leasing = this.lease();
      return leasing ? leasing.then(() => this.request()) : this.request();
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /** Takes the connection that fits the call, until `release`. Undefined if it is open, as almost always. */
  lease(): Promise<void> | undefined {
    const settled = this.context.connections.settle(this.exchange);
    return settled ? settled.then(() => this.#lease()) : this.#lease();
  }

  #lease(): Promise<void> | undefined {
    const home = this.context.connections.homeOf(this.exchange);
    const { current } = home.supervised;
    return current ? this.#place(home, current) : this.#open(home);
  }

  async #open({ supervised }: UpstreamConnection): Promise<void> {
    const connected = await supervised.get();
    // Looked up again: the server's first answer may have changed which connection is right.
    await this.#place(this.context.connections.homeOf(this.exchange), connected);
  }

  #place(home: UpstreamConnection, { server, transport }: ConnectedServer): Promise<void> | undefined {
    const { exchange } = this;
    const { connections } = this.context;
    const { asksByRequest } = server.era;
    this.mayAsk = asksByRequest && MAY_ASK.has(exchange.method);
    const ofTask = ONE_TASK_METHODS.has(exchange.method) ? connections.placeOfTask(exchange, home) : undefined;
    const place = ofTask ?? (this.mayAsk ? connections.placeFor(exchange, home, transport) : home);
    return place instanceof Promise
      ? place.then((one) => this.#take(one, asksByRequest))
      : this.#take(place, asksByRequest);
  }

  #take(connection: UpstreamConnection, asksByRequest: boolean): Promise<void> | undefined {
    this.connection = connection;
    this.#isLeased = true;
    connection.supervised.take();
    this.connected = connection.supervised.current;
    if (asksByRequest) this.#chooseAsk(connection);
    const isReady = this.connected && !(asksByRequest && this.#mustTellFirst(connection));
    return isReady ? undefined : this.#prepare(connection);
  }

  #chooseAsk(connection: UpstreamConnection): void {
    this.ask = this.client.era.asksInAnswers ? coalesce(this.#askClient, this.context.clock) : this.#askClient;
    if (connection.isTaken) this.ask = connection.asks.counted(this.ask);
  }

  #mustTellFirst({ asks }: UpstreamConnection): boolean {
    return this.exchange.logLevel !== undefined || (this.mayAsk && !asks.postponed.isEmpty);
  }

  async #prepare(connection: UpstreamConnection): Promise<void> {
    const { logLevel } = this.exchange;
    const { postponed } = connection.asks;
    try {
      this.connected ??= await connection.supervised.get();
      const { era, capabilities } = this.connected.server;
      // Others get the level with each call instead.
      if (logLevel && era.tellsLevelPerSession && capabilities.logging) await connection.setLevel(logLevel);
      if (this.mayAsk && !postponed.isEmpty) await postponed.askAll(this.ask);
    } catch (thrown) {
      this.release();
      throw thrown;
    }
  }

  /** Sends one request on the leased connection. */
  request(wanted?: CallOverrides): Promise<ResultObject> {
    const request = new ServerRequest(this, wanted);
    this.connection!.users.note(this.client, request.method);
    const { observed } = this.exchange;
    if (!observed) return this.connected!.callRaw(request);
    observed.spokenTo = this.connected!.server;
    return observed.hasMoments ? this.#showRequest(request, observed) : this.connected!.callRaw(request);
  }

  /** Sends it before those who watch the call. */
  #showRequest(request: ServerRequest, observed: CallNotes): Promise<ResultObject> {
    const { server: spokenTo, transport } = this.connected!;
    const { method, params } = request;
    observed.tell({ kind: 'sent', server: this.exchange.server, spokenTo, transport, method, params });
    const answer = this.connected!.callRaw(request);
    answer.then(
      (result) => observed.tell({ kind: 'received', result }),
      (thrown: unknown) => observed.tell({ kind: 'received', thrown }),
    );
    return answer;
  }

  /** A log message or notification of the server that can only be for this call. */
  tell(said: UnattributedChange): void {
    if (said.kind === 'log') this.exchange.log(said.entry);
    else this.exchange.notify(said.method, said.params);
  }

  get isGone(): boolean {
    const { cancellation, signal } = this.exchange;
    return !this.#isLeased || (cancellation ?? signal).aborted;
  }

  release(): void {
    if (!this.#isLeased) return;
    this.#isLeased = false;
    this.connection!.supervised.giveBack();
    if (!this.mayAsk) return;
    this.connection!.firstCalls.end(this.exchange);
    this.context.connections.giveBack(this.connection!);
  }

  #onResult(result: ResultObject): ResultObject {
    const { exchange, client, connection } = this;
    // Dialects leave no task unparsed.
    const task = this.#isLeased && !(result instanceof RawObject) ? result.task : undefined;
    this.release();
    if (exchange.method !== CALL_TOOL) return result;
    if (isObject(task)) this.context.connections.taskOwners.note(String(task.taskId), client, connection!);
    return this.read(result);
  }

  /** A result of the tool, however it came. */
  read(result: ResultObject): ResultObject {
    return this.#options.rules && this.client.era.namesRefusals ? checkCapability(result) : result;
  }

  #onFailure(thrown: unknown): Promise<ResultObject> {
    this.release();
    const { rules } = this.#options;
    if (!rules) throw thrown;
    const signal = this.exchange.cancellation ?? this.exchange.signal;
    const remedy = (failure: unknown): Promise<ResultObject | typeof AGAIN> => this.#remedy(failure, rules);
    return sendAgain({ signal, remedy, send: async () => this.#onResult(await this.#attempt()) }, thrown);
  }

  async #remedy(thrown: unknown, rules: CallRules): Promise<ResultObject | typeof AGAIN> {
    this.release();
    const { exchange, client, connected } = this;
    const mayFollow = connected?.server.era.tasksByExtension && !client.era.tasksByExtension;
    if (!mayFollow || exchange.method !== CALL_TOOL || !needsTask(thrown)) return this.#satisfy(thrown, rules);
    // The server takes it only as a task.
    return rules.tasks.follow(exchange, connected.server).then(
      (result) => this.#onResult(result),
      (refusal: unknown) => this.#satisfy(refusal, rules),
    );
  }

  /** Does what the server wants before the call. */
  async #satisfy(thrown: unknown, rules: CallRules): Promise<ResultObject | typeof AGAIN> {
    const { exchange } = this;
    if (rules.logIn && isLoginNeeded(thrown) && this.#logins++ < MAX_LOGINS) {
      return (await rules.logIn(exchange)) ?? AGAIN;
    }
    const pages = refusedPages(thrown);
    const visits = (this.#visits ??= new PageVisits());
    const fresh = visits.freshOf(pages);
    if (pages.length === 0 && rules.play && thrown instanceof ProtocolError) {
      const played = await rules.play(exchange, thrown);
      if (played) return this.read(played);
    }
    if (pages.length === 0 || visits.isOver(fresh) || !isToBeAsked(exchange)) throw rules.toError(thrown, exchange);
    const refused = fresh.length > 0 ? await visits.ask(fresh, exchange) : undefined;
    if (refused) return notDone(exchange, thrown as ProtocolError, refused);
    const ids = pages.flatMap(({ elicitationId }) => (typeof elicitationId === 'string' ? [elicitationId] : []));
    await rules.completed(ids, exchange.cancellation ?? exchange.signal, visits.attempt++);
    return AGAIN;
  }
}
