// A request about an interactive session on its way to the server that holds it. The server's session ids are replaced by public
// ones, and the other way round.
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import { isInteraction } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Watcher } from '../../protocol/target.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

/** Maps a server's session id to the client's. */
export type SessionIdPublisher = (sessionId: unknown) => unknown;

export class FlowExchange extends DelegatedExchange {
  readonly #publish: SessionIdPublisher;
  #params: JsonObject;

  constructor(inner: Exchange, params: JsonObject, publish: SessionIdPublisher) {
    super(inner);
    this.#params = params;
    this.#publish = publish;
  }

  override get params(): JsonObject {
    return this.#params;
  }

  override set params(params: JsonObject) {
    this.#params = params;
  }

  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.inner.ask(publishAsk(ask, this.#publish), signal);
  }

  override notify(method: string, params?: JsonObject): void {
    this.inner.notify(method, params && publishSessionIds(params, this.#publish));
  }
}

/** Wraps a watching client so that it gets its own session ids. */
export function publishForWatcher(watcher: Watcher, publish: SessionIdPublisher): Watcher {
  return {
    ...watcher,
    ...(watcher.ask && { ask: (ask, signal) => watcher.ask!(publishAsk(ask, publish), signal) }),
    ...(watcher.notify && {
      notify: (method, params) => watcher.notify!(method, params && publishSessionIds(params, publish)),
    }),
  };
}

/** Replaces the session ids in a result or notification. */
export function publishSessionIds(holder: JsonObject, publish: SessionIdPublisher): JsonObject {
  const { sessionId, next } = holder;
  return {
    ...holder,
    ...(typeof sessionId === 'string' && { sessionId: publish(sessionId) }),
    ...(isObject(next) && { next: publishSessionIds(next, publish) }),
  };
}

/** Replaces the server's session id or tool name in an error. Ids are also replaced in its message; a name could be any word. */
export function publishError(thrown: unknown, own: string, shown: string, isId: boolean): unknown {
  if (own === shown) return thrown;
  const rename = (holder: unknown): unknown =>
    isObject(holder)
      ? Object.fromEntries(Object.entries(holder).map(([key, value]) => [key, value === own ? shown : value]))
      : holder;
  if (thrown instanceof ProtocolError) {
    const message = isId ? thrown.message.replaceAll(own, shown) : thrown.message;
    return new ProtocolError(thrown.code, message, rename(thrown.data));
  }
  if (!(thrown instanceof GatewayError)) return thrown;
  return new GatewayError(thrown.code, rename(thrown.details) as JsonObject, { cause: thrown });
}

function publishAsk(ask: Ask, publish: SessionIdPublisher): Ask {
  if (!isInteraction(ask.method) || !ask.params) return ask;
  return { ...ask, params: publishSessionIds(ask.params, publish) };
}
