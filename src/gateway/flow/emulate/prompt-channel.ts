// A tool call by a client that supports MCP Flow but shows no forms: its questions become prompts of a session that
// lasts as long as the call. Everything else is unchanged.
import { deriveExchange } from '../../../protocol/derived-exchange.ts';
import type { ChannelPart } from '../../../protocol/derived-exchange.ts';
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isPromptable } from './form-prompts.ts';
import type { EmulatedSession } from './emulated-session.ts';

export class PromptChannel implements ChannelPart {
  /** The call with this as its channel. */
  readonly exchange: Exchange;
  readonly #inner: Exchange;
  readonly #begin: () => EmulatedSession;
  /** Created by the first question; most calls ask none. */
  #call: EmulatedSession | undefined;

  constructor(inner: Exchange, begin: () => EmulatedSession) {
    this.#inner = inner;
    this.exchange = deriveExchange(inner, { channel: this, expectsQuestions: true });
    this.#begin = begin;
  }

  /** The session, if the call has asked anything. */
  get played(): EmulatedSession | undefined {
    return this.#call;
  }

  canAsk(ask: Ask): boolean {
    return this.#inner.canAsk(ask) || isPromptable(ask);
  }

  ask(ask: Ask, signal: AbortSignal = this.#inner.signal): Promise<JsonObject> {
    if (this.#inner.canAsk(ask) || !isPromptable(ask)) return this.#inner.ask(ask, signal);
    this.#call ??= this.#begin();
    return this.#call.ask(ask, AbortSignal.any([signal, this.#inner.signal]));
  }
}
