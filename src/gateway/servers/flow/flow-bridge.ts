// Connects the gateway to a server that runs interactive tools over MCP Flow: sends requests about sessions to the server, and
// delivers its prompts and notifications to the clients of those sessions.
import type { Ask, ClientView, Exchange } from '../../../kernel/exchange.ts';
import { isInteraction, isNotInteractive } from '../../../kernel/interaction.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import { toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { Watcher } from '../../../kernel/target.ts';
import { FLOW_CANCEL, FLOW_START } from '../../../kernel/methods.ts';
import { isAnonymous } from '../../../kernel/base/anonymous.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';
import { UpstreamFlowSessions } from './upstream-flow-sessions.ts';
import type { Player } from './upstream-flow-sessions.ts';
import type { FlowToolSession } from './run-flow-tool.ts';
import { PromptInbox } from '../../../mcp/flow/prompt-inbox.ts';
import type { AskHandler } from '../questions/open-call.ts';
import type { UpstreamConnection } from '../connections/upstream-connection.ts';
import type { ConnectionPool } from '../connections/connection-pool.ts';
import { ServerCall } from '../server-call.ts';
import type { CallContext } from '../call-context.ts';

const GONE = 'The client has left';
/** Unknown method, unknown tool. */
const UNKNOWN = new Set([-32601, -32602]);
/** Names come from clients, so their number is bounded. */
const MAX_PLAIN = 10_000;

export class FlowBridge {
  readonly #calls: CallContext;
  readonly clock: Clock;
  readonly #sessions = new WeakMap<UpstreamConnection, UpstreamFlowSessions>();
  /** Non-interactive tools of an interactive server. */
  readonly #plain = new Set<string>();
  readonly #watchers = new Map<ClientView, Watcher>();

  constructor(calls: CallContext) {
    this.#calls = calls;
    this.clock = calls.clock;
  }

  /** Registers a client; the returned function removes it. */
  attend(watcher: Watcher, connections: Pick<ConnectionPool, 'known'>): () => void {
    const { client } = watcher;
    this.#watchers.set(client, watcher);
    return () => {
      if (this.#watchers.get(client) !== watcher) return;
      this.#watchers.delete(client);
      const home = connections.known(client);
      if (home && isAnonymous(client.principal)) this.#abandon(client, home);
    };
  }

  async handle(exchange: Exchange): Promise<JsonObject> {
    return this.#with(exchange, this.#playerFor(exchange.client), (request) =>
      request(exchange.method, exchange.params),
    );
  }

  /** Whether a tool of an interactive server may be available over Flow only. */
  plays({ params }: Exchange): boolean {
    return !this.#plain.has(String(params.name));
  }

  /** Runs a called tool over Flow; undefined if it turns out to be an ordinary tool. */
  async callTool(exchange: Exchange): Promise<JsonObject | undefined> {
    const tool = String(exchange.params.name);
    const prompts = new PromptInbox();
    const { client } = exchange;
    const player: Player = {
      client,
      tell: async ({ method, params }) => prompts.hear(method, params),
      notify: (method, params) => void prompts.hear(method, params),
    };
    return this.#with(exchange, player, async (request) => {
      const started = await request(FLOW_START, toStart(exchange)).catch((thrown: unknown) => {
        return this.#notPlayed(thrown, tool);
      });
      if (!started) return undefined;
      const { runFlowTool } = await import('./run-flow-tool.ts'); // few servers have interactive tools
      return runFlowTool(exchange, { started, prompts, request });
    });
  }

  /** Handles a request of the server about a session. */
  ask(ask: Ask, connection: UpstreamConnection, signal?: AbortSignal): Promise<JsonObject> {
    return this.#sessionsOn(connection).deliver({ method: ask.method, params: ask.params ?? {} }, signal);
  }

  /** Handles a notification of the server about a session. */
  notice({ method, params = {} }: NotificationMessage, connection: UpstreamConnection): void {
    this.#sessionsOn(connection).playerOf(params.sessionId)?.notify?.(method, params);
  }

  /** A message on the stream of a request may belong to a session. */
  async #with<T>(
    exchange: Exchange,
    player: Player,
    work: (request: FlowToolSession['request']) => Promise<T>,
  ): Promise<T> {
    const handler: AskHandler = (ask, signal) =>
      isInteraction(ask.method) ? this.ask(ask, call.connection!, signal) : exchange.ask(ask, signal);
    const call = new ServerCall(exchange, this.#calls, { ask: handler });
    await call.lease();
    const sessions = this.#sessionsOn(call.connection!);
    const isOwn = (method: string): boolean => method === exchange.method; // a call is played by requests of our own
    const request: FlowToolSession['request'] = (method, params, isLast = false) => {
      const send = async (given = params): Promise<JsonObject> =>
        toPlainObject(await call.request({ method, params: given, ...(isLast && { signal: undefined }) }));
      if (method === FLOW_START) return sessions.start(player, send);
      return sessions.goOn(player, { method, params, arrival: isOwn(method) ? exchange.arrival : undefined }, send);
    };
    try {
      return await work(request);
    } finally {
      call.release();
    }
  }

  /** Two connections may lead to two processes that use the same session ids. */
  #sessionsOn(connection: UpstreamConnection): UpstreamFlowSessions {
    let sessions = this.#sessions.get(connection);
    if (!sessions) this.#sessions.set(connection, (sessions = new UpstreamFlowSessions(this.clock)));
    return sessions;
  }

  #playerFor(client: ClientView): Player {
    const watcher = this.#watchers.get(client);
    return {
      client,
      tell: watcher?.ask && ((told, signal) => watcher.ask!(told, signal)),
      notify: (method, params) => watcher?.notify?.(method, params),
    };
  }

  /** The caller then calls the tool the ordinary way, which repeats any other error. */
  #notPlayed(thrown: unknown, tool: string): undefined {
    const isPlain = isNotInteractive(thrown);
    if (!isPlain && !(thrown instanceof ProtocolError && UNKNOWN.has(thrown.code))) throw thrown;
    if (isPlain && this.#plain.size < MAX_PLAIN) this.#plain.add(tool);
  }

  /** An anonymous client can never return, and a shared server does not notice that it has left. */
  #abandon(client: ClientView, home: UpstreamConnection): void {
    const sessions = this.#sessionsOn(home);
    for (const sessionId of sessions.of(client)) {
      sessions.forget(sessionId);
      const params = { sessionId, reason: GONE };
      home.supervised.current?.call({ method: FLOW_CANCEL, params }).catch(() => {}); // it may just have ended
    }
  }
}

function toStart({ params }: Exchange): JsonObject {
  const { name: toolName, arguments: initialParams = {} } = params;
  return { toolName, initialParams };
}
