// The call of a tool by a client that has declared MCP Flow and shows no forms: its questions become prompts of a session that lasts as
// long as the call. Everything else is the call's own.
import { DelegatedExchange } from '../../../protocol/delegated-exchange.ts';
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isPromptable } from './form-prompts.ts';
import type { EmulatedSession } from './emulated-session.ts';

export class PromptingExchange extends DelegatedExchange {
  readonly #begin: () => EmulatedSession;
  /** Most calls ask nothing. */
  #call: EmulatedSession | undefined;

  constructor(inner: Exchange, begin: () => EmulatedSession) {
    super(inner);
    this.#begin = begin;
  }

  /** What the client was asked for, if anything. */
  get played(): EmulatedSession | undefined {
    return this.#call;
  }

  override get expectsQuestions(): boolean {
    return true;
  }

  override canAsk(ask: Ask): boolean {
    return this.inner.canAsk(ask) || isPromptable(ask);
  }

  override ask(ask: Ask, signal: AbortSignal = this.signal): Promise<JsonObject> {
    if (this.inner.canAsk(ask) || !isPromptable(ask)) return this.inner.ask(ask, signal);
    this.#call ??= this.#begin();
    return this.#call.ask(ask, AbortSignal.any([signal, this.signal]));
  }
}
