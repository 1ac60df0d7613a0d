// The ids of interactive sessions: a server's own are replaced by public ones in everything that reaches a client, and the other
// way round.
import { deriveExchange } from '../../protocol/derived-exchange.ts';
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import { isInteraction } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Watcher } from '../../protocol/target.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

/** Maps a server's session id to the client's. */
export type SessionIdPublisher = (sessionId: unknown) => unknown;

/** The request with the server's own ids; what is sent back has public ones. */
export function toServerSession(exchange: Exchange, params: JsonObject, publish: SessionIdPublisher): Exchange {
  return deriveExchange(exchange, {
    params,
    channel: {
      ask: (ask, signal) => exchange.ask(publishAsk(ask, publish), signal),
      notify: (method, sent) => exchange.notify(method, sent && publishSessionIds(sent, publish)),
    },
  });
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
