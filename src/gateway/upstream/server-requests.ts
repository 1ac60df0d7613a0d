// Sends each request to the server in the way that its method needs, and translates the server's errors.
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import { givesReceipts, isInteraction } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { ToolFacts } from '../../protocol/tool-facts.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { ElicitationCompletions } from './questions/elicitation-completions.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { FlowBridge } from './flow-bridge.ts';
import type { ConnectionLeases } from './connections/connection-leases.ts';
import { toTargetError } from './target-errors.ts';
import type { TaskBridge } from './tasks/task-bridge.ts';
import { checkCapability } from './call-from-exchange.ts';
import { CallWithUrls } from './questions/url-elicitation.ts';
import type { CallKind } from './questions/url-elicitation.ts';

export interface ServerRequestsOptions {
  name: string;
  /** The server as this client sees it; undefined until it is known. */
  server: (client: ClientView) => ServerView | undefined;
  connections: ConnectionPool;
  leases: ConnectionLeases;
  tools: (client: ClientView) => ToolFacts;
  tasks: TaskBridge;
  flow: FlowBridge;
  completions: ElicitationCompletions;
}

export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #calls: CallKind;
  readonly #toolCalls: CallKind;

  constructor(options: ServerRequestsOptions) {
    const { server, leases, tasks } = options;
    this.#options = options;
    this.#calls = {
      send: (exchange, handler) => leases.send(exchange, handler),
      read: (result) => result,
      toError: (thrown, exchange) => this.#toError(thrown, exchange),
      completed: (ids, signal, attempt) => options.completions.wait(ids, signal, attempt),
    };
    this.#toolCalls = {
      ...this.#calls,
      send: (exchange, handler) => tasks.callTool(exchange, server(exchange.client)!, handler),
      read: (result, exchange) => checkCapability(result, exchange),
    };
  }

  handle(exchange: Exchange): Promise<ResultObject> {
    try {
      return this.#answer(exchange);
    } catch (thrown) {
      return Promise.reject(this.#toError(thrown, exchange));
    }
  }

  #answer(exchange: Exchange): Promise<ResultObject> {
    const { name, connections } = this.#options;
    const { client, resumed } = exchange;
    const server = this.#options.server(client);
    if (resumed?.server !== undefined && resumed.server !== name) throw new GatewayError('STATE_INVALID');
    // Tool calls are the most frequent, take the shortest way, and translate their errors themselves.
    if (server && exchange.method === 'tools/call') return this.#callTool(exchange, server);
    const answer = server
      ? this.#answerBy(server, exchange)
      : connections
          .homeOf(exchange)
          .supervised.get()
          .then((upstream) => this.#answerBy(upstream.server, exchange));
    return answer.catch((thrown: unknown) => {
      throw this.#toError(thrown, exchange);
    });
  }

  #toError(thrown: unknown, exchange: Exchange): unknown {
    const { dialect } = this.#options.server(exchange.client) ?? {};
    return toTargetError(thrown, exchange, { name: this.#options.name, dialect });
  }

  #answerBy(server: ServerView, exchange: Exchange): Promise<ResultObject> {
    const { connections, tasks, flow } = this.#options;
    switch (exchange.method) {
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return connections.home(exchange.client).handleSubscription(exchange);
      case 'tools/list':
        return this.#list(exchange, server);
      case 'tools/call':
        return this.#callTool(exchange, server);
      case 'tasks/get':
      case 'tasks/list':
      case 'tasks/update':
      case 'tasks/cancel':
      case 'tasks/result':
        return tasks.handle(exchange, server);
      default:
        if (isInteraction(exchange.method)) return flow.handle(exchange);
        return new CallWithUrls(exchange, this.#calls).send();
    }
  }

  #callTool(exchange: Exchange, server: ServerView, hasReceipt = false): Promise<ResultObject> {
    const isOurs = server.capabilities.experimental !== undefined && givesReceipts(server.capabilities);
    // A suspended call is repeated by the client, which also fetches the result of a task.
    if (isOurs && !hasReceipt && !exchange.maySuspend && !exchange.task?.requested)
      return this.#callWithReceipt(exchange, server);
    const call = new CallWithUrls(exchange, this.#toolCalls);
    const { flow } = this.#options;
    if (!flow.plays(exchange, server)) return call.send();
    return flow
      .callTool(exchange)
      .then((played) => (played ? call.read(played) : call.send()))
      .catch((thrown: unknown) => {
        throw this.#toError(thrown, exchange);
      });
  }

  async #callWithReceipt(exchange: Exchange, server: ServerView): Promise<ResultObject> {
    const { callWithReceipt } = await import('./receipts.ts'); // few servers have flows
    const { flow, connections } = this.#options;
    return callWithReceipt(exchange, {
      clock: flow.clock,
      send: (own) => this.#callTool(own, server, true),
      acknowledge: async (sessionId) => {
        const upstream = await connections.home(exchange.client).supervised.get();
        return upstream.call({ method: 'interaction.acknowledge', params: { sessionId } });
      },
    });
  }

  async #list(exchange: Exchange, server: ServerView): Promise<JsonObject> {
    const { leases, tools, tasks } = this.#options;
    const result = toPlainObject(await leases.send(exchange));
    tools(exchange.client).learn(result, exchange.params.cursor === undefined);
    return tasks.toList(result, exchange, server);
  }
}
