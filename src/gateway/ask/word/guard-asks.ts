// Keeps questions for a human from clients that nobody vouches for, where no call could ask on the page instead: in requests for tasks
// and sessions, and outside of any request.
import { deriveExchange } from '../../../protocol/derived-exchange.ts';
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Watcher } from '../../../protocol/target.ts';
import { noPerson } from './persons-word.ts';

export function guardExchange(exchange: Exchange): Exchange {
  const channel = {
    canAsk: (ask: Ask): boolean => ask.human !== true && exchange.canAsk(ask),
    ask: (ask: Ask, signal?: AbortSignal): Promise<JsonObject> =>
      ask.human ? Promise.reject(noPerson()) : exchange.ask(ask, signal),
  };
  return deriveExchange(exchange, { channel });
}

export function guardWatcher(watcher: Watcher): Watcher {
  const ask = (one: Ask, signal?: AbortSignal): Promise<JsonObject> =>
    one.human ? Promise.reject(noPerson()) : watcher.ask!(one, signal);
  return Object.assign(Object.create(watcher) as Watcher, watcher.ask && { ask });
}
