// A server that plays tools over MCP Flow, behind the gateway: requests about sessions on their way to it, and what it says of
// sessions on its way to their clients.
import type { Ask, ClientView, Exchange } from '../../protocol/exchange.ts';
import { flowOf, isInteraction, playsCalls } from '../../protocol/interaction.ts';
import type { JsonObject, NotificationMessage } from '../../protocol/message.ts';
import { toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { Watcher } from '../../protocol/target.ts';
import { isAnonymous } from '../../shared/anonymous.ts';
import type { Clock } from '../../shared/clock.ts';
import { ProtocolError } from '../../shared/errors.ts';
import type { AskHandler } from './questions/ask-routing.ts';
import type { UpstreamConnection } from './connections/upstream-connection.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import { UpstreamFlowSessions } from '../flow/play/upstream-flow-sessions.ts';
import type { Player, SessionMessage } from '../flow/play/upstream-flow-sessions.ts';
import type { FlowToolSession } from '../flow/play/run-flow-tool.ts';
import { PromptInbox } from '../flow/play/prompt-inbox.ts';
import type { ConnectionLeases } from './connections/connection-leases.ts';

const GONE = 'The client is gone';
const NOT_INTERACTIVE = -32007;
/** Not interactive, no such method, no such tool. */
const NOT_PLAYED = new Set([NOT_INTERACTIVE, -32601, -32602]);
/** Names come from clients. */
const MAX_PLAIN = 10_000;

export class FlowBridge {
  readonly #leases: ConnectionLeases;
  readonly #clock: Clock;
  readonly #sessions = new WeakMap<UpstreamConnection, UpstreamFlowSessions>();
  /** Tools of an interactive server that are not. */
  readonly #plain = new Set<string>();
  readonly #watchers = new Map<ClientView, Watcher>();

  constructor(leases: ConnectionLeases, clock: Clock) {
    this.#leases = leases;
    this.#clock = clock;
  }

  /** A client is there. The returned function says that it is not any more. */
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

  /** Whether a tool may be one that is played over Flow alone. */
  plays({ params }: Exchange, { capabilities }: ServerView): boolean {
    if (flowOf(capabilities)?.interactive !== true || playsCalls(capabilities)) return false;
    return !this.#plain.has(String(params.name));
  }

  /** Plays a tool that was called; undefined where it turns out that it is to be called. */
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
      const started = await request('interaction.start', toStart(exchange)).catch((thrown: unknown) => {
        return this.#notPlayed(thrown, tool);
      });
      if (!started) return undefined;
      const { runFlowTool } = await import('../flow/play/run-flow-tool.ts'); // few servers play tools
      return runFlowTool(exchange, { started, prompts, request });
    });
  }

  /** The server asks for, or says, something about a session. */
  put(ask: Ask, connection: UpstreamConnection, signal?: AbortSignal): Promise<JsonObject> {
    return this.#sessionsOn(connection).put(toTold(ask), signal);
  }

  /** It says it without wanting an answer. */
  notice({ method, params = {} }: NotificationMessage, connection: UpstreamConnection): void {
    this.#sessionsOn(connection).playerOf(params.sessionId)?.notify?.(method, params);
  }

  /** What comes on the stream of a request may belong to a session. */
  async #with<T>(
    exchange: Exchange,
    player: Player,
    work: (request: FlowToolSession['request']) => Promise<T>,
  ): Promise<T> {
    const put: AskHandler = (ask, signal) =>
      isInteraction(ask.method) ? this.put(ask, connection, signal) : exchange.ask(ask, signal);
    const lease = await this.#leases.lease(exchange, put);
    const { connection } = lease;
    const sessions = this.#sessionsOn(connection);
    const request: FlowToolSession['request'] = (method, params, isLast = false) => {
      const call = async (given = params): Promise<JsonObject> =>
        toPlainObject(await lease.send({ method, params: given, ...(isLast && { signal: undefined }) }));
      if (method === 'interaction.start') return sessions.start(player, call);
      return sessions.goOn(player, { method, params }, call);
    };
    try {
      return await work(request);
    } finally {
      lease.release();
    }
  }

  /** Two connections may lead to two processes, which need not know of each other's ids. */
  #sessionsOn(connection: UpstreamConnection): UpstreamFlowSessions {
    let sessions = this.#sessions.get(connection);
    if (!sessions) this.#sessions.set(connection, (sessions = new UpstreamFlowSessions(this.#clock)));
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

  /** What the server does not play is called; whatever else is wrong it will say then, too. */
  #notPlayed(thrown: unknown, tool: string): undefined {
    if (!(thrown instanceof ProtocolError) || !NOT_PLAYED.has(thrown.code)) throw thrown;
    if (thrown.code === NOT_INTERACTIVE && this.#plain.size < MAX_PLAIN) this.#plain.add(tool);
  }

  /** It can never come back, and a server that many share does not notice that one of them has left. */
  #abandon(client: ClientView, home: UpstreamConnection): void {
    const sessions = this.#sessionsOn(home);
    for (const sessionId of sessions.of(client)) {
      sessions.forget(sessionId);
      const params = { sessionId, reason: GONE };
      home.supervised.current?.call({ method: 'interaction.cancel', params }).catch(() => {}); // it may just have ended
    }
  }
}

function toTold({ method, params = {} }: Ask): SessionMessage {
  return { method, params };
}

function toStart({ params }: Exchange): JsonObject {
  const { name: toolName, arguments: initialParams = {} } = params;
  return { toolName, initialParams };
}
