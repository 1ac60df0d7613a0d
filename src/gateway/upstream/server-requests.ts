// Sends each request to the server in the way that its method needs, and translates the server's errors. A handshake server may
// refuse a call until its user has visited a page (-32042). A client that does not know this error is asked to open the page
// instead, once per page. Its answer says only that the user will open it, so the call is repeated when the server reports the
// visit, or after a while.
import { deriveExchange } from '../../protocol/derived-exchange.ts';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import { givesReceipts, hasStartId, isInteraction, withOwnStartId } from '../../protocol/interaction.ts';
import { InternalExchange } from '../../protocol/internal-exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { pages } from '../../protocol/pages.ts';
import { toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { ToolFacts } from '../../protocol/tool-facts.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import type { ElicitationCompletions } from './questions/elicitation-completions.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { FlowBridge } from './flow-bridge.ts';
import type { ConnectionLeases } from './connections/connection-leases.ts';
import { ServerPause, asksForPause } from './server-pause.ts';
import { withLanguages } from './languages.ts';
import { toTargetError } from './target-errors.ts';
import type { ErrorSource } from './target-errors.ts';
import type { TaskBridge } from './tasks/task-bridge.ts';
import { checkCapability } from './call-from-exchange.ts';
import { isObject } from '../../protocol/message.ts';
import { CALL_METHODS } from '../../protocol/methods.ts';
import { LOGIN_TOOL, isLoginNeeded, loggedIn, loginTool } from './login/login-tool.ts';
import type { Abortable } from '../../shared/cancellation.ts';
import type { SentReceipts } from './receipts.ts';
import type { ListChecks } from './target-options.ts';
import type { ResultHandler } from './result-handler.ts';

export interface ServerRequestsOptions {
  name: string;
  clock: Clock;
  /** The server as this client sees it; undefined until it is known. */
  server: (client: ClientView) => ServerView | undefined;
  connections: ConnectionPool;
  leases: ConnectionLeases;
  tools: (client: ClientView) => ToolFacts;
  tasks: TaskBridge;
  flow: FlowBridge;
  completions: ElicitationCompletions;
  /** Lets the user of a call log in at the server. */
  logIn?: ((exchange: Exchange) => Promise<void>) | undefined;
  definitions?: ListChecks | undefined;
}

export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #calls: CallKind;
  readonly #toolCalls: CallKind;
  /** Undefined if nothing is ever held back. */
  readonly #judge: ListChecks | undefined;
  /** Once the server has asked for one. */
  #pause: ServerPause | undefined;
  #sent: SentReceipts | undefined;

  constructor(options: ServerRequestsOptions) {
    const { server, leases, tasks } = options;
    this.#options = options;
    this.#judge = options.definitions?.isJudging ? options.definitions : undefined;
    this.#calls = {
      send: (exchange, handler) => leases.send(exchange, handler),
      read: (result) => result,
      toError: (thrown, exchange) => this.#toError(thrown, exchange),
      completed: (ids, signal, attempt) => options.completions.wait(ids, signal, attempt),
      logIn: options.logIn && ((exchange) => this.#logIn(exchange)),
    };
    this.#toolCalls = {
      ...this.#calls,
      send: (exchange, handler) => tasks.callTool(exchange, server(exchange.client)!, handler),
      read: (result, exchange) => checkCapability(result, exchange),
    };
  }

  handle(exchange: Exchange): Promise<ResultObject> {
    try {
      this.#pause?.check(exchange);
      const admitted = this.#judge?.admit(exchange, this.#listAll);
      return admitted ? this.#answerAdmitted(admitted, exchange) : this.#answer(exchange);
    } catch (thrown) {
      return Promise.reject(toTargetError(thrown, exchange, this.#source(exchange)));
    }
  }

  async #answerAdmitted(admitted: Promise<void>, exchange: Exchange): Promise<ResultObject> {
    await admitted;
    try {
      return this.#answer(exchange);
    } catch (thrown) {
      throw toTargetError(thrown, exchange, this.#source(exchange));
    }
  }

  /** A list of the server, for the checks that see each page. */
  readonly #listAll = async (method: string, client: ClientView): Promise<void> => {
    const fetch = async (params: JsonObject): Promise<JsonObject> =>
      toPlainObject(await this.handle(new InternalExchange(method, params, client)));
    for await (const _ of pages({ key: method.split('/')[0]!, fetch })) continue;
  };

  #answer(exchange: Exchange): Promise<ResultObject> {
    const { name, connections } = this.#options;
    const { client, resumed } = exchange;
    const server = this.#options.server(client);
    if (resumed?.server !== undefined && resumed.server !== name) throw new GatewayError('STATE_INVALID');
    // Tool calls are the most frequent, take the shortest way, and translate their errors themselves.
    if (server && exchange.method === 'tools/call') return this.#callTool(exchange, server);
    const open = (): Promise<ResultObject> =>
      connections
        .homeOf(exchange)
        .supervised.get()
        .then((upstream) => this.#answerBy(upstream.server, exchange));
    const answer = server ? this.#answerBy(server, exchange) : open();
    return answer
      .catch((thrown) => this.#orLogIn(thrown, exchange, open))
      .catch((thrown: unknown) => {
        throw toTargetError(thrown, exchange, this.#source(exchange));
      });
  }

  /** A server that lists nothing without a login lists how to log in. */
  async #orLogIn(thrown: unknown, exchange: Exchange, again: () => Promise<ResultObject>): Promise<ResultObject> {
    const { logIn, name, server } = this.#options;
    if (!logIn || !isLoginNeeded(thrown)) throw thrown;
    if (exchange.method === 'tools/list') return { tools: [loginTool(name)] };
    // Calls to a server that is known have asked already.
    if (!CALL_METHODS.has(exchange.method) || server(exchange.client)) throw thrown;
    return (await this.#logIn(exchange)) ?? again();
  }

  /** The result of a call that was only for the login; undefined for others, which are to be sent again. */
  async #logIn(exchange: Exchange): Promise<ResultObject | undefined> {
    const { logIn, name, tools } = this.#options;
    const { method, params, client } = exchange;
    await logIn!(exchange);
    const isOurs = method === 'tools/call' && params.name === LOGIN_TOOL && !tools(client).get(LOGIN_TOOL);
    return isOurs ? loggedIn(name) : undefined;
  }

  #toError(thrown: unknown, exchange: Exchange): unknown {
    const { name, clock } = this.#options;
    if (asksForPause(thrown)) (this.#pause ??= new ServerPause(name, clock)).note(thrown, exchange);
    return toTargetError(thrown, exchange, this.#source(exchange));
  }

  #source({ client }: Exchange): ErrorSource {
    return { name: this.#options.name, dialect: this.#options.server(client)?.dialect };
  }

  #answerBy(server: ServerView, exchange: Exchange): Promise<ResultObject> {
    const { connections, tasks, flow } = this.#options;
    switch (exchange.method) {
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return connections.home(exchange.client).handleSubscription(exchange);
      case 'tools/list':
        return this.#list(exchange, server);
      case 'prompts/list':
      case 'resources/list':
      case 'resources/templates/list':
        return this.#checked(exchange, new CallWithUrls(exchange, this.#calls).send(), server);
      case 'tools/call':
        return this.#callTool(exchange, server);
      case 'tasks/get':
      case 'tasks/list':
      case 'tasks/update':
      case 'tasks/cancel':
      case 'tasks/result':
        return tasks.handle(exchange, server);
      default:
        if (exchange.method === 'interaction.start') return flow.handle(withLanguages(exchange));
        if (isInteraction(exchange.method)) return flow.handle(exchange);
        return new CallWithUrls(exchange, this.#calls).send();
    }
  }

  #callTool(exchange: Exchange, server: ServerView, hasReceipt = false): Promise<ResultObject> {
    const isOurs = server.capabilities.experimental !== undefined && givesReceipts(server.capabilities);
    const isStarted = exchange.params._meta !== undefined && hasStartId(exchange.params);
    // The client repeats a suspended call and one with a start id, and fetches the result of a task.
    if (isOurs && !hasReceipt && !isStarted && !exchange.maySuspend && !exchange.task?.requested)
      return this.#callWithReceipt(exchange, server);
    const spoken = isOurs ? withLanguages(exchange) : exchange;
    const own = isStarted ? withOwnStart(spoken) : spoken;
    const call = new CallWithUrls(own, this.#toolCalls);
    const { flow } = this.#options;
    if (!flow.plays(own, server)) return call.send();
    return flow
      .callTool(own)
      .then((played) => (played ? call.read(played) : call.send()))
      .catch((thrown: unknown) => {
        throw toTargetError(thrown, exchange, this.#source(exchange));
      });
  }

  async #callWithReceipt(exchange: Exchange, server: ServerView): Promise<ResultObject> {
    const { SentReceipts, callWithReceipt } = await import('./receipts.ts'); // few servers have flows
    const { flow, connections } = this.#options;
    this.#sent ??= new SentReceipts();
    return callWithReceipt(exchange, {
      clock: flow.clock,
      sent: this.#sent,
      send: (own) => this.#callTool(own, server, true),
      acknowledge: async (sessionId) => {
        const upstream = await connections.home(exchange.client).supervised.get();
        return upstream.call({ method: 'interaction.acknowledge', params: { sessionId } });
      },
    });
  }

  async #checked(exchange: Exchange, listed: Promise<ResultObject>, server: ServerView): Promise<ResultObject> {
    const { definitions } = this.#options;
    return definitions ? definitions.check(exchange, toPlainObject(await listed), server) : listed;
  }

  async #list(exchange: Exchange, server: ServerView): Promise<JsonObject> {
    const { leases, tools, tasks } = this.#options;
    const result = toPlainObject(await this.#checked(exchange, leases.send(exchange), server));
    tools(exchange.client).learn(result, exchange.params.cursor === undefined);
    return tasks.toList(result, exchange, server);
  }
}

function withOwnStart(exchange: Exchange): Exchange {
  return deriveExchange(exchange, { params: withOwnStartId(exchange.params, exchange.client.principal) });
}

const URL_ELICITATION_REQUIRED = -32042;
/** How often a call may have its user log in: the second time with more scopes. */
const MAX_LOGINS = 2;
/** How often a call may send its user to further pages. */
const MAX_ROUNDS = 8;
/** How often a call is repeated for the same pages; about ten minutes in all. */
const MAX_ATTEMPTS = 7;

/** How to send calls of one kind and handle their results. */
export interface CallKind {
  send(exchange: Exchange, handler: ResultHandler): Promise<ResultObject>;
  read(result: ResultObject, exchange: Exchange): ResultObject;
  toError(thrown: unknown, exchange: Exchange): unknown;
  completed(elicitationIds: readonly string[], signal: Abortable, attempt: number): Promise<void>;
  /** Resolves with the result of a call that was only for the login. */
  logIn?: ((exchange: Exchange) => Promise<ResultObject | undefined>) | undefined;
}

/** One call, with the pages that its user has to visit. */
export class CallWithUrls implements ResultHandler {
  readonly #exchange: Exchange;
  readonly #kind: CallKind;
  /** Ids and URLs of the pages asked for; created on first use, because most calls need none. */
  #asked: Set<string> | undefined;
  #round = 0;
  #attempt = 0;
  #logins = 0;

  constructor(exchange: Exchange, kind: CallKind) {
    this.#exchange = exchange;
    this.#kind = kind;
  }

  send(): Promise<ResultObject> {
    return this.#kind.send(this.#exchange, this);
  }

  read(result: ResultObject): ResultObject {
    return this.#kind.read(result, this.#exchange);
  }

  async failed(thrown: unknown): Promise<ResultObject> {
    const { logIn } = this.#kind;
    if (logIn && isLoginNeeded(thrown) && this.#logins++ < MAX_LOGINS) {
      return (await logIn(this.#exchange)) ?? this.send();
    }
    const pages = pagesOf(thrown);
    const fresh = pages.filter((page) => !namesOf(page).some((name) => this.#asked?.has(name)));
    if (fresh.length > 0) this.#attempt = 0;
    const isOver = fresh.length > 0 ? this.#round === MAX_ROUNDS : this.#attempt === MAX_ATTEMPTS;
    if (pages.length === 0 || isOver || !isToBeAsked(this.#exchange)) {
      throw this.#kind.toError(thrown, this.#exchange);
    }
    const refused = fresh.length > 0 ? await this.#ask(fresh) : undefined;
    if (refused) return notDone(this.#exchange, thrown as ProtocolError, refused);
    const { cancellation, signal } = this.#exchange;
    const ids = pages.flatMap(({ elicitationId }) => (typeof elicitationId === 'string' ? [elicitationId] : []));
    await this.#kind.completed(ids, cancellation ?? signal, this.#attempt++);
    return this.send();
  }

  /** Returns the answer of a user who refuses. */
  async #ask(pages: JsonObject[]): Promise<JsonObject | undefined> {
    const round = ++this.#round;
    const known = (this.#asked ??= new Set());
    for (const page of pages) for (const name of namesOf(page)) known.add(name);
    const asked = pages.map((page, index) => this.#exchange.ask(toAsk(page, `${round}-${index}`)));
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

function toAsk({ message, url, elicitationId }: JsonObject, key: string) {
  return { method: 'elicitation/create', params: { mode: 'url', message, url, elicitationId }, key: `url-${key}` };
}

function notDone({ method }: Exchange, error: ProtocolError, { action }: JsonObject): JsonObject {
  const reason = `${error.message} (${String(action)})`;
  if (method !== 'tools/call') throw new GatewayError('ASK_REFUSED', { method: 'elicitation/create', reason });
  return { content: [{ type: 'text', text: reason }], isError: true };
}
