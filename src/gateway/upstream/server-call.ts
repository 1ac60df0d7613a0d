// One request to a server, in the order of what happens: it leases a connection, sends the request, and releases the connection when the
// answer is here. After a login or a visit to a page the call is repeated; a call that must run as a task is sent again as one.
// A handshake server may refuse a call until its user has visited a page (-32042). A client that does not know this error is asked to open
// the page instead, once per page. Its answer says only that the user will open it, so the call is repeated when the server reports the
// visit, or after a while.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange } from '../../protocol/exchange.ts';
import { withProof } from '../../protocol/form/human-marks.ts';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { CALL_METHODS, ONE_TASK_METHODS } from '../../protocol/methods.ts';
import { RawObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { OutgoingCall, ServerView, UnattributedChange } from '../../protocol/server-view.ts';
import type { Abortable } from '../../shared/cancellation.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { toCallCapabilities } from '../dialect/speak/client-capabilities.ts';
import { withTasks } from '../dialect/stateless/speak/outgoing-envelope.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { UpstreamConnection } from './connections/upstream-connection.ts';
import { isLoginNeeded } from './login/login-tool.ts';
import type { AskHandler } from './questions/ask-routing.ts';
import { coalesce } from './questions/coalesce.ts';
import { OpenCall, subjectOf } from './questions/open-call.ts';
import type { CallOwner } from './questions/open-call.ts';
import { checkCapability } from './target-errors.ts';
import type { TaskBridge } from './tasks/task-bridge.ts';
import { needsTask } from './tasks/task-support.ts';
import type { Upstream } from './upstream.ts';

/** Methods during which a handshake server may ask. */
const MAY_ASK = new Set([...CALL_METHODS, 'tasks/result']);

/** What all calls to a server share. */
export interface CallContext {
  connections: ConnectionPool;
  clock: Clock;
  timeoutMs: number | undefined;
}

/** What is done for a call that the server does not answer at once. */
export interface CallRules {
  toError(thrown: unknown, exchange: Exchange): unknown;
  /** Waits until the pages with these ids were visited. */
  completed(elicitationIds: readonly string[], signal: Abortable, attempt: number): Promise<void>;
  /** Resolves with the result of a call that was only for the login. */
  logIn?: ((exchange: Exchange) => Promise<ResultObject | undefined>) | undefined;
  tasks: Pick<TaskBridge, 'callTool' | 'follow'>;
}

export interface ServerCallOptions {
  /** Default: failures are passed on. */
  rules?: CallRules | undefined;
  /** The server, if the call may have to run as one of its tasks. */
  taskServer?: ServerView | undefined;
  /** Answers questions that arrive on the connection. Default: the client. */
  put?: AskHandler | undefined;
}

/** Overrides for a request that differs from the exchange it is made for. */
export interface CallOverrides {
  method?: string;
  params?: JsonObject;
  signal?: Abortable | undefined;
  task?: { ttl?: number | undefined };
  /** The call may become a task of the stateless era. */
  mayBecomeTask?: boolean;
}

const NO_OPTIONS: ServerCallOptions = {};
const NO_OVERRIDES: CallOverrides = {};
const URL_ELICITATION_REQUIRED = -32042;
/** How often a call may have its user log in: the second time with more scopes. */
const MAX_LOGINS = 2;
/** How often a call may send its user to further pages. */
const MAX_PAGE_ROUNDS = 8;
/** How often a call is repeated for the same pages; about ten minutes in all. */
const MAX_ATTEMPTS = 7;

/** It is one object because every call makes one: a closure for each operation would cost more than the message. */
export class ServerCall implements CallOwner {
  readonly exchange: Exchange;
  readonly client: ClientView;
  /** The connection of the last lease. */
  connection: UpstreamConnection | undefined;
  upstream: Upstream | undefined;
  /** Whether the server may ask the client during the call. */
  mayAsk = false;
  put: AskHandler;
  readonly #ask: AskHandler;
  readonly #context: CallContext;
  readonly #options: ServerCallOptions;
  #isLeased = false;
  /** Made on first use, because most calls need none. */
  #visits: PageVisits | undefined;
  #logins = 0;

  constructor(exchange: Exchange, context: CallContext, options = NO_OPTIONS) {
    this.exchange = exchange;
    this.client = exchange.client;
    this.put = this.#ask = options.put ?? ((ask, signal) => exchange.ask(ask, signal));
    this.#context = context;
    this.#options = options;
  }

  /** Sends the request, and again as often as the rules say. */
  send(): Promise<ResultObject> {
    const { rules, taskServer } = this.#options;
    const task = taskServer && rules?.tasks.callTool(this.exchange, taskServer);
    return (task ?? this.#sendOnce()).then(
      (result) => this.#onResult(result),
      (thrown: unknown) => this.#onFailure(thrown),
    );
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
    const home = this.#context.connections.homeOf(this.exchange);
    const { current } = home.supervised;
    return current ? this.#place(home, current) : this.#open(home);
  }

  async #open({ supervised }: UpstreamConnection): Promise<void> {
    const upstream = await supervised.get();
    // Looked up again: the server's first answer may have changed which connection is right.
    await this.#place(this.#context.connections.homeOf(this.exchange), upstream);
  }

  #place(home: UpstreamConnection, { server, transport }: Upstream): Promise<void> | undefined {
    const { exchange } = this;
    const { connections } = this.#context;
    const isHandshake = server.dialect === 'handshake';
    this.mayAsk = isHandshake && MAY_ASK.has(exchange.method);
    const ofTask = ONE_TASK_METHODS.has(exchange.method) ? connections.placeOfTask(exchange, home) : undefined;
    const place = ofTask ?? (this.mayAsk ? connections.placeFor(exchange, home, transport) : home);
    return place instanceof Promise
      ? place.then((one) => this.#take(one, isHandshake))
      : this.#take(place, isHandshake);
  }

  #take(connection: UpstreamConnection, isHandshake: boolean): Promise<void> | undefined {
    this.connection = connection;
    this.#isLeased = true;
    connection.supervised.take();
    this.upstream = connection.supervised.current;
    if (isHandshake) this.#choosePut(connection);
    const isReady = this.upstream && !(isHandshake && this.#mustTellFirst(connection));
    return isReady ? undefined : this.#prepare(connection);
  }

  #choosePut(connection: UpstreamConnection): void {
    this.put = this.client.dialect === 'stateless' ? coalesce(this.#ask, this.#context.clock) : this.#ask;
    if (connection.isTaken) this.put = connection.asks.counted(this.put);
  }

  #mustTellFirst({ asks }: UpstreamConnection): boolean {
    return this.exchange.logLevel !== undefined || (this.mayAsk && !asks.held.isEmpty);
  }

  async #prepare(connection: UpstreamConnection): Promise<void> {
    const { logLevel } = this.exchange;
    const { held } = connection.asks;
    try {
      this.upstream ??= await connection.supervised.get();
      const { dialect, capabilities } = this.upstream.server;
      // Stateless servers get the level with each call instead.
      if (logLevel && dialect === 'handshake' && capabilities.logging) await connection.setLevel(logLevel);
      if (this.mayAsk && !held.isEmpty) await held.release(this.put);
    } catch (thrown) {
      this.release();
      throw thrown;
    }
  }

  /** Sends one request on the leased connection. */
  request(wanted?: CallOverrides): Promise<ResultObject> {
    const { exchange, client, put: ask } = this;
    const { timeoutMs } = this.#context;
    const upstream = this.upstream!;
    const { server } = upstream;
    const tracker = this.#track(server, wanted);
    const call = callFromExchange({ exchange, server, ask, timeoutMs, tracker }, wanted);
    this.connection!.users.note(client, call.method);
    return upstream.callRaw(call);
  }

  /** Only a server that asks by requests of its own has habits to learn. */
  #track({ dialect }: ServerView, wanted: CallOverrides | undefined): OpenCall {
    const { exchange } = this;
    const { method = exchange.method, params = exchange.params } = wanted ?? NO_OVERRIDES;
    const habits = dialect === 'handshake' ? this.#context.connections.habits : undefined;
    return new OpenCall(this.connection!.asks, this, {
      method,
      subject: habits ? subjectOf({ method, params }) : '',
      habits,
      taskId: method.startsWith('tasks/') && typeof params.taskId === 'string' ? params.taskId : undefined,
      startsTask: method === 'tools/call' && (wanted?.task ?? exchange.task) !== undefined,
    });
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
    if (this.mayAsk) this.#context.connections.giveBack(this.connection!);
  }

  #onResult(result: ResultObject): ResultObject {
    const { exchange, client, connection } = this;
    // Dialects leave no task unparsed.
    const task = this.#isLeased && !(result instanceof RawObject) ? result.task : undefined;
    this.release();
    if (exchange.method !== 'tools/call') return result;
    if (isObject(task)) this.#context.connections.taskOwners.note(String(task.taskId), client, connection!);
    return this.read(result);
  }

  /** A result of the tool, however it came. */
  read(result: ResultObject): ResultObject {
    return this.#options.rules && this.client.dialect === 'stateless' ? checkCapability(result) : result;
  }

  #onFailure(thrown: unknown): Promise<ResultObject> {
    this.release();
    const { rules } = this.#options;
    if (!rules) throw thrown;
    const { exchange, client, upstream } = this;
    const mayFollow = upstream?.server.dialect === 'stateless' && client.dialect !== 'stateless';
    if (!mayFollow || exchange.method !== 'tools/call' || !needsTask(thrown)) return this.#satisfy(thrown, rules);
    return rules.tasks.follow(exchange, upstream.server).then(
      (result) => this.#onResult(result),
      (refusal: unknown) => this.#satisfy(refusal, rules),
    );
  }

  /** Does what the server wants before the call, and sends it again. */
  async #satisfy(thrown: unknown, rules: CallRules): Promise<ResultObject> {
    const { exchange } = this;
    if (rules.logIn && isLoginNeeded(thrown) && this.#logins++ < MAX_LOGINS) {
      return (await rules.logIn(exchange)) ?? this.send();
    }
    const pages = pagesOf(thrown);
    const visits = (this.#visits ??= new PageVisits());
    const fresh = visits.freshOf(pages);
    if (pages.length === 0 || visits.isOver(fresh) || !isToBeAsked(exchange)) throw rules.toError(thrown, exchange);
    const refused = fresh.length > 0 ? await visits.ask(fresh, exchange) : undefined;
    if (refused) return notDone(exchange, thrown as ProtocolError, refused);
    const ids = pages.flatMap(({ elicitationId }) => (typeof elicitationId === 'string' ? [elicitationId] : []));
    await rules.completed(ids, exchange.cancellation ?? exchange.signal, visits.attempt++);
    return this.send();
  }
}

interface CallFacts {
  exchange: Exchange;
  server: ServerView;
  ask: AskHandler;
  timeoutMs: number | undefined;
  tracker?: OutgoingCall['tracker'];
}

/** The call to the server, on behalf of a client; what the server sends for it leads back to the exchange. */
export function callFromExchange(
  { exchange, server, ask, timeoutMs, tracker }: CallFacts,
  wanted = NO_OVERRIDES,
): OutgoingCall {
  const { method, client, task } = exchange;
  const sent = wanted.method ?? method;
  const params = wanted.params ?? (client.dialect === 'stateless' ? withoutTask(exchange) : exchange.params);
  const asked = task?.requested && wanted.method === undefined ? { ttl: task.ttl } : undefined;
  // A stateless server learns with each call which client it serves.
  const told = server.dialect === 'stateless' ? client : undefined;
  return {
    method: sent,
    params: sent === 'tools/call' ? params : withProof(params, sent, exchange),
    signal: 'signal' in wanted ? wanted.signal : (exchange.cancellation ?? exchange.signal),
    trace: exchange.trace,
    timeoutMs,
    tracker,
    task: wanted.task ?? asked,
    onProgress: exchange.wantsProgress ? (progress) => exchange.progress(progress) : undefined,
    onNotify: (notification) => exchange.notify(notification.method, notification.params),
    onLog: (entry) => exchange.log(entry),
    onRelease: (retryMs) => exchange.releaseStream(retryMs),
    ask,
    suspends: told && exchange.maySuspend,
    isUnproven: client.isUnproven,
    resumed: told && exchange.resumed,
    info: told?.info,
    capabilities: told && capabilitiesOf(told, wanted),
    // Until a handshake client sets a level, it gets the messages that a server of its own era would send by default.
    logLevel: told && (exchange.logLevel ?? (told.dialect === 'handshake' ? 'info' : undefined)),
  };
}

function capabilitiesOf(client: ClientView, { mayBecomeTask }: CallOverrides): ClientCapabilities {
  const capabilities = toCallCapabilities(client);
  return mayBecomeTask ? withTasks(capabilities) : capabilities;
}

/** Drops `task` from the params of a stateless call: it means nothing there, but a handshake server would obey it. */
function withoutTask({ method, params }: Exchange): JsonObject {
  if (method !== 'tools/call' || !('task' in params)) return params;
  const { task, ...rest } = params;
  return rest;
}

/** The pages that a call has sent its user to. */
class PageVisits {
  /** Ids and URLs. */
  readonly #asked = new Set<string>();
  #round = 0;
  attempt = 0;

  /** The pages that the user does not know yet. */
  freshOf(pages: JsonObject[]): JsonObject[] {
    return pages.filter((page) => !namesOf(page).some((name) => this.#asked.has(name)));
  }

  isOver(fresh: JsonObject[]): boolean {
    if (fresh.length > 0) this.attempt = 0;
    return fresh.length > 0 ? this.#round === MAX_PAGE_ROUNDS : this.attempt === MAX_ATTEMPTS;
  }

  /** Returns the answer of a user who refuses. */
  async ask(pages: JsonObject[], exchange: Exchange): Promise<JsonObject | undefined> {
    const round = ++this.#round;
    for (const page of pages) for (const name of namesOf(page)) this.#asked.add(name);
    const asked = pages.map((page, index) => exchange.ask(toAsk(page, `${round}-${index}`)));
    return (await Promise.all(asked)).find(({ action }) => action !== 'accept');
  }
}

/** A handshake client that opens pages knows the error, and for one that cannot be asked the error is still the best answer. */
function isToBeAsked(exchange: Exchange): boolean {
  const { dialect, capabilities } = exchange.client;
  if (dialect === 'stateless') return true;
  return (
    capabilities.elicitation?.url === undefined &&
    exchange.canAsk({ method: 'elicitation/create', params: { mode: 'url' } })
  );
}

function pagesOf(thrown: unknown): JsonObject[] {
  if (!(thrown instanceof ProtocolError) || thrown.code !== URL_ELICITATION_REQUIRED) return [];
  const pages = isObject(thrown.data) ? thrown.data.elicitations : undefined;
  return Array.isArray(pages) ? pages.filter(isObject) : [];
}

/** Some servers give a page a new id with each call. */
function namesOf({ elicitationId, url }: JsonObject): string[] {
  return [elicitationId, url].filter((name) => typeof name === 'string');
}

function toAsk({ message, url, elicitationId }: JsonObject, key: string): Ask {
  return { method: 'elicitation/create', params: { mode: 'url', message, url, elicitationId }, key: `url-${key}` };
}

function notDone({ method }: Exchange, error: ProtocolError, { action }: JsonObject): JsonObject {
  const reason = `${error.message} (${String(action)})`;
  if (method !== 'tools/call') throw new GatewayError('ASK_REFUSED', { method: 'elicitation/create', reason });
  return { content: [{ type: 'text', text: reason }], isError: true };
}
