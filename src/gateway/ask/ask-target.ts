// Stands between the clients and the chain, so that whatever asks behind it finds its person: a server, a step, a flow. Clients
// that cannot be asked see one more tool, by which their model passes answers on.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { DelegatedTarget } from '../../protocol/delegated-target.ts';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage } from '../../protocol/message.ts';
import { toPlain } from '../../protocol/raw-object.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import type { Change, Opening, Target, Watcher } from '../../protocol/target.ts';
import { ANSWER_TOOL, answerTool } from './answer-tool.ts';
import { AskedExchange } from './asked-exchange.ts';
import type { Means } from './means.ts';

type Result = Promise<ResultObject> | ResultObject;

export class AskTarget extends DelegatedTarget {
  readonly #means: Means;
  readonly #handle: (exchange: Exchange) => Result;

  constructor(target: Target, means: Means) {
    super(target);
    this.#means = means;
    this.#handle = (exchange) => target.handle(exchange);
  }

  override handle(exchange: Exchange): Result {
    this.#assist(exchange.client);
    switch (exchange.method) {
      case 'tools/call':
        if (exchange.params.name === ANSWER_TOOL && this.#takesAnswers(exchange.client)) return this.#answer(exchange);
        return new AskedExchange(exchange, this.#means).run(this.#handle);
      case 'tools/list':
        return this.#takesAnswers(exchange.client) ? this.#list(exchange) : this.target.handle(exchange);
      case 'prompts/get':
      case 'resources/read':
        return new AskedExchange(exchange, this.#means).run(this.#handle);
      default:
        return this.target.handle(exchange);
    }
  }

  override async ready(opening?: Opening): Promise<void> {
    const assisted = opening && this.#means.assistedFor(opening);
    await this.target.ready?.(assisted ? { ...opening, assisted } : opening);
  }

  override capabilities(client: ClientView): ServerCapabilities {
    return this.target.capabilities(this.#assist(client));
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    if (watcher) this.#assist(watcher.client);
    const unwatch = this.target.watch(listener, watcher);
    return () => {
      unwatch();
      if (watcher) this.#means.rounds.leave(watcher.client);
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

  #assist(client: ClientView): ClientView {
    if (client.assisted === undefined) client.assisted = this.#means.assistedFor(client);
    return client;
  }

  #takesAnswers({ assisted, principal }: ClientView): boolean {
    return assisted?.elicitation !== undefined || this.#means.rounds.hasAny(principal);
  }

  async #answer(exchange: Exchange): Promise<ResultObject> {
    const { takeAnswer } = await import('./take-answer.ts'); // most clients never bring one
    return takeAnswer(exchange, this.#means);
  }

  /** At the end of the last page: a cursor of the servers is none of ours. */
  async #list(exchange: Exchange): Promise<JsonObject> {
    const result = toPlain(await this.target.handle(exchange));
    if (!Array.isArray(result.tools) || result.nextCursor !== undefined) return result;
    return { ...result, tools: [...(result.tools as JsonObject[]), answerTool] };
  }
}
