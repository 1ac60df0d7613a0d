// The channels of tool calls whose questions become prompts of MCP Flow, because their client speaks Flow.
import { deriveExchange } from '../../../../kernel/derived-exchange.ts';
import type { ChannelPart } from '../../../../kernel/derived-exchange.ts';
import type { Ask, Exchange } from '../../../../kernel/exchange.ts';
import { InternalExchange } from '../../../../kernel/internal-exchange.ts';
import { START_ID } from '../../../../kernel/interaction.ts';
import { isObject } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import type { Watcher } from '../../../../kernel/target.ts';
import { CALL_TOOL, ELICIT_INPUT } from '../../../../kernel/methods.ts';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import type { EmulatedSession } from './emulated-session.ts';
import { isPromptable } from './form-prompts.ts';

/**
 * A tool call by a client that shows no forms: its questions become prompts of a session that lasts as long as the call. Everything else is
 * unchanged.
 */
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

/**
 * The tool call behind an emulated session. Its request is already answered, so its questions become prompts of the session, and other
 * requests reach the client outside of any request.
 */
export function emulatedExchange(
  origin: Exchange,
  args: JsonObject,
  session: EmulatedSession,
  watcher: Watcher | undefined,
): Exchange {
  const { id, client, trace, logLevel, wantsProgress, ownTool, observed } = origin;
  const request = new InternalExchange(
    CALL_TOOL,
    { name: session.options.tool, arguments: args, ...ownMeta(origin.params) },
    client,
    session.signal,
  );
  return deriveExchange(Object.assign(request, { id, logLevel, wantsProgress, observed }), {
    trace,
    ownTool,
    expectsQuestions: true,
    awaitsTask: true,
    channel: toChannel(origin, session, watcher),
  });
}

/** What a client tells flows about itself, such as its language. The id of the start is for the session here. */
function ownMeta({ _meta: meta }: JsonObject): JsonObject {
  if (!isObject(meta)) return {};
  const own = Object.entries(meta).filter(([key]) => key.startsWith('mcp-parley/') && key !== START_ID);
  return own.length > 0 ? { _meta: Object.fromEntries(own) } : {};
}

function toChannel(origin: Exchange, session: EmulatedSession, watcher: Watcher | undefined): ChannelPart {
  const reachesClient = (ask: Ask): boolean =>
    ask.method !== ELICIT_INPUT && watcher?.ask !== undefined && origin.canAsk(ask);
  return {
    notify: (method, params) => watcher?.notify?.(method, params),
    progress: (progress) => session.progress(progress),
    canAsk: (ask) => isPromptable(ask) || reachesClient(ask),
    ask(ask, signal) {
      if (isPromptable(ask)) return session.ask(ask, signal);
      if (reachesClient(ask)) return watcher!.ask!(ask, signal);
      return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method }));
    },
  };
}
