// Sits between the clients and the chain, so that every question behind it (of a server, a step or a flow) reaches its
// person. Clients that cannot be asked get one more tool, by which their model passes on answers. It is listed from the
// first question on: for the client that was asked, and, since stateless clients cannot be told apart, for all of
// those.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { deriveExchange } from '../kernel/derived-exchange.ts';
import { TargetLayer } from '../kernel/target.ts';
import type { Change, ClientOpening, Target, Watcher } from '../kernel/target.ts';
import type { ClientView, Exchange } from '../kernel/exchange.ts';
import { isObject } from '../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../kernel/message.ts';
import { handleWithGatewayTool } from '../kernel/gateway-tool.ts';
import type { GatewayTool } from '../kernel/exchange.ts';
import { RawObject, RawText, fieldOf, toPlainObject } from '../kernel/raw/raw-object.ts';
import type { ResultObject } from '../kernel/raw/raw-object.ts';
import { ToolFacts } from '../kernel/tool-facts.ts';
import { CALL_TOOL, GET_PROMPT, LIST_TOOLS, READ_RESOURCE } from '../kernel/methods.ts';
import { BoundedMap } from '../kernel/containers/bounded-map.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { ANSWER_TOOL, answerTool } from './question-text.ts';
import { hasHandle } from './held-rounds.ts';
import { AskableCall } from './askable-call.ts';
import type { HeldListener } from './askable-call.ts';
import type { AskChannels } from './ask-channels.ts';
import { guardExchange, guardWatcher } from './trust/answer-trust.ts';

type Result = Promise<ResultObject> | ResultObject;

const MAX_ASKERS = 10_000;
const HANDLE_KEY = 'mcp-parley/handle';

function askerKey({ principal }: ClientView, args: unknown): string {
  return `${principal} ${String((args as JsonObject).handle)}`;
}

export class QuestionLayer extends TargetLayer implements HeldListener {
  readonly #channels: AskChannels;
  /** Clients with sessions that had a held call. */
  readonly #asked = new WeakSet<ClientView>();
  #hasAsked = false;
  /** The public names of tools listed with an output schema. */
  readonly #tools = new ToolFacts();
  readonly #listeners = new Map<(change: Change) => void, ClientView>();
  readonly #ownTool: GatewayTool;
  /** The servers that have told a caller a handle of theirs; empty if there is only one. */
  readonly #askers = new BoundedMap<string, string>(MAX_ASKERS);

  constructor(target: Target, channels: AskChannels) {
    super(target);
    this.#channels = channels;
    const run = async (exchange: Exchange): Promise<ResultObject> => {
      const { takeAnswer } = await import('./take-answer.ts'); // loaded lazily: most clients never answer this way
      return takeAnswer(exchange, channels);
    };
    this.#ownTool = { name: ANSWER_TOOL, entry: answerTool, run };
  }

  override handle(exchange: Exchange): Result {
    const { client } = exchange;
    if (client.assisted === undefined || client.isUnproven === undefined) this.#assist(client);
    switch (exchange.method) {
      case CALL_TOOL:
        if (exchange.params.name === ANSWER_TOOL) return this.#takeAnswer(exchange);
        return new AskableCall(exchange, this.#channels, this).run(this.target);
      case LIST_TOOLS:
        return this.#list(exchange);
      case GET_PROMPT:
      case READ_RESOURCE:
        return new AskableCall(exchange, this.#channels, this).run(this.target);
      default:
        return this.target.handle(client.isUnproven ? guardExchange(exchange) : exchange);
    }
  }

  override async ready(opening?: ClientOpening): Promise<void> {
    const assisted = opening && this.#channels.assistedFor(opening);
    await this.target.ready?.(assisted ? { ...opening, assisted } : opening);
  }

  override capabilities(client: ClientView): ServerCapabilities {
    return this.target.capabilities(this.#assist(client));
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    if (watcher) this.#listeners.set(listener, this.#assist(watcher.client));
    const isGuarded = watcher?.client.isUnproven === true && watcher.ask !== undefined;
    const unwatch = this.target.watch(listener, isGuarded ? guardWatcher(watcher) : watcher);
    return () => {
      unwatch();
      this.#listeners.delete(listener);
      if (watcher) this.#channels.rounds.leave(watcher.client);
    };
  }

  override async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.target.subscribe?.(uri, this.#assist(client));
  }

  override async followTask(taskId: string, client: ClientView): Promise<void> {
    await this.target.followTask?.(taskId, this.#assist(client));
  }

  override notify(notification: NotificationMessage, client: ClientView): void {
    this.target.notify?.(notification, this.#assist(client));
  }

  #takeAnswer(exchange: Exchange): Result {
    if (this.#takesAnswers(exchange)) return this.#withOwnTool(exchange);
    const { client, params } = exchange;
    const asker = hasHandle(params) ? this.#askers.get(askerKey(client, params.arguments)) : undefined;
    if (this.#channels.areAny && asker === undefined) {
      if (hasHandle(params)) return this.#withOwnTool(exchange); // of an earlier process of this gateway
      throw new GatewayError('TOOL_NOT_FOUND', { name: ANSWER_TOOL });
    }
    if (asker) exchange.params = { ...params, name: `${asker}__${ANSWER_TOOL}` };
    return new AskableCall(exchange, this.#channels, this).run(this.target);
  }

  /**
   * The name is reserved, but a server may be another gateway, with a tool of the same name. Answers are passed on only to the server whose own result has told
   * this caller the handle: no other tool of that name gets what a person has said.
   */
  onResult({ client, server = '' }: Exchange, result: ResultObject): void {
    const meta = result instanceof RawObject && !(result instanceof RawText) ? undefined : fieldOf(result, '_meta');
    const handle = isObject(meta) ? meta[HANDLE_KEY] : undefined;
    if (typeof handle !== 'string' || this.#channels.rounds.knows(handle, client.principal)) return;
    this.#askers.set(askerKey(client, { handle }), server);
  }

  /** From now on the client's tool list has one more. */
  onHeld(client: ClientView): void {
    const isNews = (one: ClientView): boolean =>
      one.era.hasSession ? one === client && !this.#asked.has(one) : !this.#hasAsked;
    const told = [...this.#listeners].filter(([, one]) => isNews(one));
    this.#hasAsked = true;
    this.#asked.add(client);
    for (const [listener] of told) listener({ kind: 'tools' });
  }

  hasOutputSchema(tool: unknown): boolean {
    return this.#tools.get(String(tool))?.hasOutputSchema ?? false;
  }

  #list(exchange: Exchange): Result {
    const listed = this.#listsAnswers(exchange.client) ? this.#withOwnTool(exchange) : this.target.handle(exchange);
    // Only clients that cannot be asked have held calls.
    if (!exchange.client.assisted?.elicitation) return listed;
    return Promise.resolve(listed).then((result) => {
      this.#tools.learn(toPlainObject(result), false);
      return result;
    });
  }

  #listsAnswers(client: ClientView): boolean {
    if (this.#channels.rounds.hasAny(client.principal)) return true;
    const wasAsked = client.era.hasSession ? this.#asked.has(client) : this.#hasAsked;
    return wasAsked && client.assisted?.elicitation !== undefined;
  }

  #assist(client: ClientView): ClientView {
    if (client.assisted === undefined) client.assisted = this.#channels.assistedFor(client);
    const { answerTrust } = this.#channels;
    if (client.isUnproven === undefined) client.isUnproven = answerTrust.isStrict && !answerTrust.trusts(client);
    return client;
  }

  /** Whether the answer is for a call that was held here. Without a handle, it says so itself. */
  #takesAnswers({ client: { assisted, principal }, params }: Exchange): boolean {
    const { rounds } = this.#channels;
    if (hasHandle(params)) return rounds.knows((params.arguments as JsonObject).handle, principal);
    return assisted?.elicitation !== undefined || rounds.hasAny(principal);
  }

  /** Adds the answer tool, through the steps of the target if it has some. */
  #withOwnTool(exchange: Exchange): Result {
    const own = deriveExchange(exchange, { ownTool: this.#ownTool });
    return this.target.takesOwnTools ? this.target.handle(own) : handleWithGatewayTool(own, this.#ownTool, this.target);
  }
}
