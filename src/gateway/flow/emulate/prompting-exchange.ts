// A tool call by a client that supports MCP Flow but shows no forms: its questions become prompts of a session that
// lasts as long as the call. Everything else is unchanged.
import { DelegatedExchange } from '../../../protocol/delegated-exchange.ts';
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isPromptable } from './form-prompts.ts';
import type { EmulatedSession } from './emulated-session.ts';

export class PromptingExchange extends DelegatedExchange {
  readonly #begin: () => EmulatedSession;
  /** Created by the first question; most calls ask none. */
  #call: EmulatedSession | undefined;

  constructor(inner: Exchange, begin: () => EmulatedSession) {
    super(inner);
    this.#begin = begin;
  }

  /** The session, if the call has asked anything. */
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
