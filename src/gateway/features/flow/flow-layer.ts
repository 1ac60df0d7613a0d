// Lets an MCP Flow client play any tool. A tool whose server speaks Flow is played there; any other is called, and its
// questions become prompts of a session that is kept here. Clients without Flow notice nothing.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { canonicalExactly } from '../../../kernel/raw/canonical-exactly.ts';
import { callerOfClient } from '../../../kernel/exchange.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import {
  FLOW_VERSION,
  flowOf,
  givesReceipts,
  playsCalls,
  isInteraction,
  readStartId,
  withCalls,
  readTimeout,
} from '../../../kernel/interaction.ts';
import { isObject, readOptionalObject, readString } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { readPlayAsCall } from '../../../kernel/flow/play-as-call.ts';
import type { PlayAsCall } from '../../../kernel/flow/play-as-call.ts';
import { toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import { TargetLayer } from '../../../kernel/target.ts';
import type { Change, Target, Watcher } from '../../../kernel/target.ts';
import {
  CALL_TOOL,
  FLOW_COMPLETE,
  FLOW_ENDED,
  FLOW_START,
  FLOW_TIMEOUT_WARNING,
  FLOW_WITHDRAWN,
  TELL_CAPABILITIES,
} from '../../../kernel/methods.ts';
import { isAnonymous } from '../../../kernel/base/anonymous.ts';
import { CLIENT_GONE } from '../../../kernel/base/cancellation.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { GatewayError, toError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { EmulatedSession } from './emulate/emulated-session.ts';
import { EmulatedSessions } from './emulate/emulated-sessions.ts';
import type { NewEmulatedSession, SessionStart } from './emulate/emulated-sessions.ts';
import { PromptChannel, emulatedExchange } from './emulate/prompt-channel.ts';
import { UpstreamFlowSessions } from '../../servers/flow/upstream-flow-sessions.ts';
import type { Player, SessionMessage } from '../../servers/flow/upstream-flow-sessions.ts';

type Result = Promise<ResultObject> | ResultObject;

interface FlowLayerOptions {
  clock: Clock;
  log: Log;
  limits: { maxParked: number; parkedMs: number };
  /** What ids of sessions end in. */
  mark?: string | undefined;
  /** Only sessions that a step wants to be calls; everything else is left to the server. */
  onlyForSteps?: boolean | undefined;
}

const DECLARATION = {
  interactive: true,
  version: FLOW_VERSION,
  features: {
    statefulSessions: true,
    progressTracking: true,
    validation: true,
    multiplePromptTypes: true,
    sessionPersistence: false,
  },
};

export class FlowLayer extends TargetLayer {
  readonly #options: FlowLayerOptions;
  readonly #emulated: EmulatedSessions;
  readonly #played: UpstreamFlowSessions;
  readonly #watchers = new Map<ClientView, Watcher>();
  /** Those among the watching clients whose calls ask by prompts. */
  readonly #prompted = new Set<ClientView>();

  constructor(target: Target, options: FlowLayerOptions) {
    super(target);
    this.#options = options;
    const played = (this.#played = new UpstreamFlowSessions(options.clock));
    this.#emulated = new EmulatedSessions(options, (id) => played.forget(id));
  }

  override handle(exchange: Exchange): Result {
    const { method, params, client } = exchange;
    if (method === CALL_TOOL) return this.#prompted.has(client) ? this.#call(exchange) : this.target.handle(exchange);
    if (method === TELL_CAPABILITIES) return this.#declare(exchange);
    if (!isInteraction(method)) return this.target.handle(exchange);
    if (method === FLOW_START) return this.#start(exchange);
    const call = this.#emulated.find(params, client.principal);
    return call ? this.#goOn(exchange, call) : this.target.handle(exchange);
  }

  /** Everything that can be played can also be called. */
  override capabilities(client: ClientView): ServerCapabilities {
    const capabilities = this.target.capabilities(client);
    const flow = this.#options.onlyForSteps ? undefined : flowOf(capabilities);
    if (!flow) return capabilities;
    const receipts = givesReceipts(capabilities) && { receipts: true };
    const experimental = { ...capabilities.experimental, ...withCalls(flow, receipts || {}).experimental };
    return { ...capabilities, experimental } as ServerCapabilities;
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const unwatch = this.target.watch(listener, watcher);
    if (watcher) this.#watchers.set(watcher.client, watcher);
    if (watcher && !this.#options.onlyForSteps && isPrompted(watcher)) this.#prompted.add(watcher.client);
    return () => {
      unwatch();
      if (watcher && this.#watchers.get(watcher.client) === watcher) this.#leave(watcher.client);
    };
  }

  /** Declares every tool as playable: one that is not interactive is called. */
  async #declare(exchange: Exchange): Promise<ResultObject> {
    if (this.#options.onlyForSteps) return this.target.handle(exchange);
    const declared = await Promise.resolve(this.target.handle(exchange)).then(toPlainObject, (): JsonObject => ({}));
    return declared.interactive === true ? declared : DECLARATION;
  }

  async #start(exchange: Exchange): Promise<ResultObject> {
    const started = await this.target.handle(exchange);
    const wanted = readPlayAsCall(started);
    if (!wanted) return started;
    if (this.#options.onlyForSteps && !this.#isForSteps(wanted, exchange))
      throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool: wanted.tool });
    return this.#played.start(this.#playerFor(exchange.client), async () => this.#begin(exchange));
  }

  /** A server that asks callers itself must know beforehand that this one can be asked; nobody has told it. */
  #isForSteps({ wantedBy }: PlayAsCall, { client }: Exchange): boolean {
    return wantedBy === 'step' && !playsCalls(this.target.capabilities(client));
  }

  #begin(exchange: Exchange): JsonObject {
    const { params, client } = exchange;
    const args = readOptionalObject(params, 'initialParams') ?? {};
    const tool = readString(params, 'toolName');
    const start = toStart(params, [tool, args]);
    const before = start && this.#emulated.startedAs(start, client.principal);
    if (before) {
      const initialPrompt = before.again();
      return { sessionId: before.options.id, state: 'idle', ...(initialPrompt && { initialPrompt }) };
    }
    const call = this.#session({ tool, timeoutMs: readTimeout(params), start }, client);
    const played = emulatedExchange(exchange, args, call, this.#watchers.get(client));
    const ending = new Promise<ResultObject>((resolve) => setImmediate(() => resolve(this.#play(played, () => call))));
    recordAtEnd(exchange, played, ending);
    return { sessionId: call.options.id, state: 'idle' };
  }

  #session(about: Pick<NewEmulatedSession, 'tool' | 'timeoutMs' | 'start'>, client: ClientView): EmulatedSession {
    const call: EmulatedSession = this.#emulated.begin({
      ...about,
      principal: client.principal,
      caller: callerOfClient(client),
      tell: (told) => void this.#tell(told, call),
      expired: () => this.#expire(call),
      withdrawn: (promptId) => this.#notify(call, FLOW_WITHDRAWN, { promptId, reason: 'moved' }),
      warn: (remainingMs) => this.#notify(call, FLOW_TIMEOUT_WARNING, { expiresAt: call.expiresAt, remainingMs }),
    });
    call.signal.addEventListener('abort', () => this.#played.forget(call.options.id));
    return call;
  }

  /** The first question begins a session; the result ends it. */
  async #call(exchange: Exchange): Promise<ResultObject> {
    const { client, params } = exchange;
    const prompts = new PromptChannel(exchange, () => {
      const call = this.#session({ tool: String(params.name), timeoutMs: undefined }, client);
      void this.#played.start(this.#playerFor(client), async () => ({ sessionId: call.options.id }));
      return call;
    });
    return this.#play(prompts.exchange, () => prompts.played);
  }

  /** Calls the tool. Its answer or error ends the session, if there is one by then. */
  async #play(exchange: Exchange, session: () => EmulatedSession | undefined): Promise<ResultObject> {
    try {
      const answer = await this.target.handle(exchange);
      const call = session();
      if (call) {
        const { result, summary } = toOutcome(toPlainObject(answer));
        call.complete(result, summary);
      }
      return answer;
    } catch (thrown) {
      const { message, code } = toError(thrown);
      session()?.complete({ success: false, error: { message, code } }, undefined);
      throw thrown;
    }
  }

  async #goOn(exchange: Exchange, call: EmulatedSession): Promise<JsonObject> {
    const { method, params, client, arrival } = exchange;
    return this.#played.goOn(this.#playerFor(client), { method, params, arrival }, async (given) =>
      call.handle(method, given),
    );
  }

  #playerFor(client: ClientView): Player {
    const watcher = this.#watchers.get(client);
    return { client, tell: watcher?.ask && ((told, signal) => watcher.ask!(told, signal)) };
  }

  async #tell(told: SessionMessage, call: EmulatedSession): Promise<void> {
    try {
      await this.#played.deliver(told);
      if (told.method === FLOW_COMPLETE) call.acknowledge();
    } catch (error) {
      this.#options.log.debug({ error }, 'flow.untold');
    }
  }

  #expire(call: EmulatedSession): void {
    const { code: name, message } = new GatewayError('FLOW_SESSION_EXPIRED', { sessionId: call.options.id });
    const result = { success: false, error: { name, message } };
    this.#notify(call, FLOW_ENDED, { result, summary: message });
  }

  #notify({ options: { id: sessionId } }: EmulatedSession, method: string, params: JsonObject): void {
    const client = this.#played.playerOf(sessionId)?.client;
    const watcher = client && this.#watchers.get(client);
    watcher?.notify?.(method, { sessionId, ...params });
  }

  #leave(client: ClientView): void {
    this.#watchers.delete(client);
    this.#prompted.delete(client);
    if (!isAnonymous(client.principal)) return; // it may come back
    for (const sessionId of this.#played.of(client)) {
      this.#played.forget(sessionId);
      const call = this.#emulated.find({ sessionId }, client.principal);
      if (call && !call.hasEnded) call.cancel(CLIENT_GONE);
    }
  }
}

/** The client supports prompts, shows no forms, and can receive messages. */
function isPrompted(watcher: Watcher): boolean {
  const { capabilities } = watcher.client;
  if (!capabilities.experimental || capabilities.elicitation) return false;
  return flowOf(capabilities)?.interactive === true && watcher.ask !== undefined;
}

/** `result` and `summary` of `interaction.complete`. */
function toOutcome(result: JsonObject): { result: JsonObject; summary: string | undefined } {
  const { content, structuredContent, isError } = result;
  const text = textOf(content);
  if (isError === true)
    return { result: { success: false, error: { message: text ?? 'The tool failed' } }, summary: text };
  const data = isObject(structuredContent) ? structuredContent : { content };
  return { result: { success: true, data }, summary: text };
}

function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const texts = content.filter(isObject).flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** The audit log says how the tool ended, not that its session began. */
function recordAtEnd(exchange: Exchange, played: Exchange, ending: Promise<ResultObject>): void {
  const ended = ending.finally(() => {
    exchange.server ??= played.server;
    exchange.decision ??= played.decision;
  });
  ended.catch(() => {}); // the session says it
  if (exchange.observed) exchange.observed.ending = ended;
}

function toStart(params: JsonObject, what: unknown): SessionStart | undefined {
  const id = readStartId(params);
  if (id === undefined) return undefined;
  return { id, what: sha256(canonicalExactly(what), 'base64url') };
}
