// All requests to one server: answers each in the way that its method needs, admits and checks what is listed, lets users log in, and translates
// the server's errors.
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { hasStartId, isInteraction, withOwnStartId, LANGUAGES } from '../../kernel/interaction.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import {
  CALL_METHODS,
  CALL_TOOL,
  FLOW_ACKNOWLEDGE,
  FLOW_START,
  LIST_METHODS,
  LIST_TOOLS,
  TASK_METHODS,
  TELL_CAPABILITIES,
  methodsWhere,
} from '../../kernel/methods.ts';
import { pages } from '../../kernel/pages.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { ProtocolError } from '../../kernel/base/errors.ts';
import { languagesOf } from '../../kernel/base/http.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { FlowBridge } from './flow/flow-bridge.ts';
import type { KnownServer } from './known-server.ts';
import { isLoginNeeded } from '../../mcp/connect/accounts/server-login.ts';
import type { ElicitationCompletions } from './questions/page-visits.ts';
import type { Receipts } from './receipts.ts';
import { ServerCall } from './server-call.ts';
import type { CallRules, ServerCallOptions } from './server-call.ts';
import type { CallContext } from './call-context.ts';
import { ServerPause, asksForPause } from './server-pause.ts';
import { toTargetError } from './target-errors.ts';
import type { ListChecks } from './target-options.ts';
import type { TaskBridge } from './tasks/task-bridge.ts';

interface RequestDispatcherOptions {
  name: string;
  calls: CallContext;
  tasks: TaskBridge;
  flow: FlowBridge;
  completions: ElicitationCompletions;
  /** Lets the user of a call log in at the server. */
  logIn?: ((exchange: Exchange) => Promise<void>) | undefined;
  definitions?: ListChecks | undefined;
}

/** The one tool of a server that shows nothing until somebody has logged in. Calling it is how a conversation begins the login. */
const LOGIN_TOOL = 'login';
/** How long a server may take to say whether it speaks MCP Flow. */
const DISCOVERY_MS = 5000;

type AnswerMethod = (exchange: Exchange, server: ViewedServer) => Promise<ResultObject>;

/** A server that was opened at least once. */
type ViewedServer = KnownServer & { view: ServerView };

export class RequestDispatcher {
  readonly #options: RequestDispatcherOptions;
  readonly #connections: ConnectionPool;
  readonly #callOptions: ServerCallOptions & { rules: CallRules };
  /** The methods that are not just sent to the server. */
  readonly #answers: ReadonlyMap<string, AnswerMethod>;
  /** Undefined if nothing is ever held back. */
  readonly #judge: ListChecks | undefined;
  /** Once the server has asked for one. */
  #pause: ServerPause | undefined;
  #receipts: Receipts | undefined;

  constructor(options: RequestDispatcherOptions) {
    const { definitions, completions, tasks, logIn, calls } = options;
    this.#options = options;
    this.#connections = calls.connections;
    this.#judge = definitions?.isJudging ? definitions : undefined;
    const rules: CallRules = {
      toError: (thrown, exchange) => this.#toError(thrown, exchange),
      completed: (ids, signal, attempt) => completions.wait(ids, signal, attempt),
      logIn: logIn && ((exchange) => this.#logIn(exchange)),
      tasks,
      play: (exchange, refusal) => this.#playRefused(exchange, refusal),
    };
    this.#callOptions = { rules };
    this.#answers = this.#createAnswers();
  }

  #createAnswers(): Map<string, AnswerMethod> {
    const { tasks, flow } = this.#options;
    const list: AnswerMethod = (exchange, { view }) => this.#checked(exchange, this.#call(exchange), view);
    const subscription: AnswerMethod = (exchange) =>
      this.#connections.home(exchange.client).handleSubscription(exchange);
    const answers = new Map<string, AnswerMethod>();
    for (const method of LIST_METHODS) answers.set(method, list);
    for (const method of methodsWhere(({ kind }) => kind === 'subscription')) answers.set(method, subscription);
    // Only for the call that opens the server; later ones take the short way in #answer.
    answers.set(CALL_TOOL, (exchange, server) => this.#callTool(exchange, server));
    answers.set(LIST_TOOLS, (exchange, server) => this.#listTools(exchange, server));
    answers.set(FLOW_START, (exchange) => flow.handle(withLanguages(exchange)));
    for (const method of TASK_METHODS) answers.set(method, (exchange, { view }) => tasks.handle(exchange, view));
    return answers;
  }

  handle(exchange: Exchange): Promise<ResultObject> {
    try {
      this.#pause?.check(exchange);
      const admitted = this.#judge?.admit(exchange, this.#listAll);
      return admitted ? this.#answerAdmitted(admitted, exchange) : this.#answer(exchange);
    } catch (thrown) {
      return Promise.reject(this.#toTargetError(thrown, exchange));
    }
  }

  async #answerAdmitted(admitted: Promise<void>, exchange: Exchange): Promise<ResultObject> {
    await admitted;
    try {
      return this.#answer(exchange);
    } catch (thrown) {
      throw this.#toTargetError(thrown, exchange);
    }
  }

  /** A list of the server, for the checks that see each page. */
  readonly #listAll = async (method: string, client: ClientView): Promise<void> => {
    const fetch = async (params: JsonObject): Promise<JsonObject> =>
      toPlainObject(await this.handle(new InternalExchange(method, params, client)));
    for await (const _ of pages({ key: method.split('/')[0]!, fetch })) continue;
  };

  #answer(exchange: Exchange): Promise<ResultObject> {
    const { resumed } = exchange;
    if (resumed?.server !== undefined && resumed.server !== this.#options.name) throw new GatewayError('STATE_INVALID');
    const server = this.#connections.serverFor(exchange.client);
    // Tool calls are the most frequent, take the shortest way, and translate their errors themselves.
    if (isViewed(server) && exchange.method === CALL_TOOL) return this.#callTool(exchange, server);
    const answer = isViewed(server) ? this.#answerBy(server, exchange) : this.#open(exchange);
    return answer
      .catch((thrown) => this.#orLogIn(thrown, exchange))
      .catch((thrown: unknown) => {
        throw this.#toTargetError(thrown, exchange);
      });
  }

  async #open(exchange: Exchange): Promise<ResultObject> {
    await this.#connections.settle(exchange);
    const home = this.#connections.homeOf(exchange);
    const connected = await home.supervised.get();
    const server = this.#connections.serverFor(exchange.client);
    if (isViewed(server)) return this.#answerBy(server, exchange);
    // Meanwhile the client was given another pool, whose server was never opened.
    const opened = this.#connections.serverOf(home);
    if (!isViewed(opened)) opened.learn(connected.server);
    return this.#answerBy(opened as ViewedServer, exchange);
  }

  #answerBy(server: ViewedServer, exchange: Exchange): Promise<ResultObject> {
    const answer = this.#answers.get(exchange.method);
    if (answer) return answer(exchange, server);
    return isInteraction(exchange.method) ? this.#options.flow.handle(exchange) : this.#call(exchange);
  }

  #call(exchange: Exchange): Promise<ResultObject> {
    return new ServerCall(exchange, this.#options.calls, this.#callOptions).send();
  }

  /** A server that lists nothing without a login lists how to log in. */
  async #orLogIn(thrown: unknown, exchange: Exchange): Promise<ResultObject> {
    const { logIn, name } = this.#options;
    if (!logIn || !isLoginNeeded(thrown)) throw thrown;
    if (exchange.method === LIST_TOOLS) return { tools: [loginTool(name)] };
    // Calls to a server that is known have asked already.
    if (!CALL_METHODS.has(exchange.method) || this.#connections.serverFor(exchange.client).view) throw thrown;
    return (await this.#logIn(exchange)) ?? this.#open(exchange);
  }

  /** The result of a call that was only for the login; undefined for others, which are to be sent again. */
  async #logIn(exchange: Exchange): Promise<ResultObject | undefined> {
    const { logIn, name } = this.#options;
    const { method, params, client } = exchange;
    await logIn!(exchange);
    const { tools } = this.#connections.serverFor(client);
    const isOurs = method === CALL_TOOL && params.name === LOGIN_TOOL && !tools.get(LOGIN_TOOL);
    return isOurs ? loggedIn(name) : undefined;
  }

  #toError(thrown: unknown, exchange: Exchange): unknown {
    const { name, calls } = this.#options;
    if (asksForPause(thrown)) (this.#pause ??= new ServerPause(name, calls.clock)).note(thrown, exchange);
    return this.#toTargetError(thrown, exchange);
  }

  #toTargetError(thrown: unknown, exchange: Exchange): unknown {
    const { view } = this.#connections.serverFor(exchange.client);
    return toTargetError(thrown, exchange, { name: this.#options.name, spoken: view });
  }

  #callTool(exchange: Exchange, server: ViewedServer, hasReceipt = false): Promise<ResultObject> {
    const isStarted = exchange.params._meta !== undefined && hasStartId(exchange.params);
    // The client repeats a suspended call and one with a start id, and fetches the result of a task.
    const needsReceipt = server.givesReceipts && !hasReceipt && !isStarted;
    if (needsReceipt && !exchange.maySuspend && !exchange.task?.requested) {
      return this.#callWithReceipt(exchange, server);
    }
    const spoken = server.givesReceipts ? withLanguages(exchange) : exchange;
    const own = isStarted ? withOwnStart(spoken) : spoken;
    const mayBeTask = server.runsTasks && mayRunAsTask(own, server.view);
    const options = mayBeTask ? { ...this.#callOptions, taskServer: server.view } : this.#callOptions;
    const call = new ServerCall(own, this.#options.calls, options);
    return server.hasFlowTools && this.#options.flow.plays(own) ? this.#play(own, call) : call.send();
  }

  /** A tool that turns out to be an ordinary one is called. */
  async #play(exchange: Exchange, call: ServerCall): Promise<ResultObject> {
    try {
      const played = await this.#options.flow.callTool(exchange);
      return played ? call.read(played) : await call.send();
    } catch (thrown) {
      throw this.#toTargetError(thrown, exchange);
    }
  }

  /**
   * A server of MCP Flow may say that it is one only in its answer to `capabilities`. It is asked once, when it has refused a call, so that
   * servers without Flow notice nothing.
   */
  async #playRefused(exchange: Exchange, refusal: ProtocolError): Promise<ResultObject | undefined> {
    const server = this.#connections.serverFor(exchange.client);
    if (exchange.method !== CALL_TOOL || !server.mayHaveFlowTools || !mayBePlayed(refusal)) return undefined;
    server.mayHaveFlowTools = false;
    const asked = new InternalExchange(TELL_CAPABILITIES, {}, exchange.client);
    const call = new ServerCall(asked, { ...this.#options.calls, timeoutMs: DISCOVERY_MS });
    const declared = await call.send().then(toPlainObject, () => undefined);
    server.hasFlowTools = declared?.interactive === true;
    return server.hasFlowTools ? this.#options.flow.callTool(exchange) : undefined;
  }

  async #callWithReceipt(exchange: Exchange, server: ViewedServer): Promise<ResultObject> {
    const { Receipts } = await import('./receipts.ts'); // few servers have flows
    this.#receipts ??= new Receipts(this.#options.calls.clock);
    return this.#receipts.call(exchange, {
      send: (own) => this.#callTool(own, server, true),
      acknowledge: async (sessionId) => {
        const connected = await this.#connections.home(exchange.client).supervised.get();
        return connected.call({ method: FLOW_ACKNOWLEDGE, params: { sessionId } });
      },
    });
  }

  async #checked(exchange: Exchange, listed: Promise<ResultObject>, server: ServerView): Promise<ResultObject> {
    const { definitions } = this.#options;
    return definitions ? definitions.check(exchange, toPlainObject(await listed), server) : listed;
  }

  async #listTools(exchange: Exchange, { view, tools }: ViewedServer): Promise<JsonObject> {
    const { calls, tasks } = this.#options;
    const listed = new ServerCall(exchange, calls).send();
    const result = toPlainObject(await this.#checked(exchange, listed, view));
    tools.learn(result, exchange.params.cursor === undefined);
    return tasks.toList(result, exchange, view);
  }
}

function isViewed(server: KnownServer): server is ViewedServer {
  return server.view !== undefined;
}

/** Whether the way of a call depends on tasks, at a server that runs them. A handshake server declares it for each tool. */
function mayRunAsTask({ awaitsTask, task }: Exchange, { era }: ServerView): boolean {
  return era.tasksByCapability || awaitsTask === true || task?.requested === true;
}

function withOwnStart(exchange: Exchange): Exchange {
  return deriveExchange(exchange, { params: withOwnStartId(exchange.params, exchange.client.principal) });
}

/** Tells a server with flows which languages the client prefers: its Accept-Language header ends at this gateway. */
function withLanguages(exchange: Exchange): Exchange {
  const header = exchange.client.connection?.headers?.['accept-language'];
  if (header === undefined || header === '*') return exchange; // `*` is what fetch sends by itself
  const { _meta: meta } = exchange.params;
  const own = isObject(meta) ? meta : {};
  if (LANGUAGES in own) return exchange; // a gateway in front has said it
  const languages = languagesOf(header).join(', ');
  return deriveExchange(exchange, { params: { ...exchange.params, _meta: { ...own, [LANGUAGES]: languages } } });
}

function loginTool(server: string): JsonObject {
  return {
    name: LOGIN_TOOL,
    title: `Log in at ${server}`,
    description: `${server} needs a login before its tools can be used. Call this tool when the user wants to use ${server}: it gives the user a link, and the tools of ${server} follow once they have logged in.`,
    inputSchema: { type: 'object', properties: {} },
  };
}

function loggedIn(server: string): JsonObject {
  return {
    content: [{ type: 'text', text: `The user is logged in at ${server}. List the tools again to see its tools.` }],
  };
}

/** What a server may say of a tool that can only be played. One that explains itself in `data`, such as a rate limit, knows the call. */
function mayBePlayed({ code, data }: ProtocolError): boolean {
  if (data !== undefined && typeof data !== 'string') return false;
  return (code <= -32600 && code >= -32603) || (code <= -32000 && code >= -32009);
}
