// The tool call behind an emulated session. Its request is already answered, so its questions become prompts of the
// session, and other requests reach the client outside of any request.
import { DelegatedExchange } from '../../../protocol/delegated-exchange.ts';
import type { Ask, Exchange, Progress } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Watcher } from '../../../protocol/target.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { isPromptable } from './form-prompts.ts';
import type { EmulatedSession } from './emulated-session.ts';

export class EmulatedExchange extends DelegatedExchange {
  readonly #call: EmulatedSession;
  readonly #watcher: Watcher | undefined;
  #params: JsonObject;
  #server: string | undefined;

  constructor(origin: Exchange, args: JsonObject, call: EmulatedSession, watcher: Watcher | undefined) {
    super(origin);
    this.#call = call;
    this.#watcher = watcher;
    this.#params = { name: call.options.tool, arguments: args };
  }

  override get method(): string {
    return 'tools/call';
  }

  override get params(): JsonObject {
    return this.#params;
  }

  override set params(params: JsonObject) {
    this.#params = params;
  }

  override get server(): string | undefined {
    return this.#server;
  }

  override set server(server: string | undefined) {
    this.#server = server;
  }

  override get signal(): AbortSignal {
    return this.#call.signal;
  }

  override get cancellation(): AbortSignal {
    return this.#call.signal;
  }

  /** Its questions and its result belong to the session. */
  override get task(): undefined {
    return undefined;
  }

  override get expectsQuestions(): boolean {
    return true;
  }

  override get awaitsTask(): boolean {
    return true;
  }

  override get maySuspend(): undefined {
    return undefined;
  }

  override get resumed(): undefined {
    return undefined;
  }

  override notify(method: string, params?: JsonObject): void {
    this.#watcher?.notify?.(method, params);
  }

  override progress(progress: Progress): void {
    this.#call.progress(progress);
  }

  override log(): void {}

  override releaseStream(): void {}

  override canAsk(ask: Ask): boolean {
    return isPromptable(ask) || (this.#isOther(ask) && this.#watcher?.ask !== undefined && this.inner.canAsk(ask));
  }

  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (isPromptable(ask)) return this.#call.ask(ask, signal);
    if (this.canAsk(ask)) return this.#watcher!.ask!(ask, signal);
    return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method }));
  }

  #isOther({ method }: Ask): boolean {
    return method !== 'elicitation/create';
  }
}
