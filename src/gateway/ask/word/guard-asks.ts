// Keeps questions for a human from clients that nobody vouches for, where no call could ask on the page instead: in requests for tasks
// and sessions, and outside of any request.
import { deriveExchange } from '../../../protocol/derived-exchange.ts';
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Watcher } from '../../../protocol/target.ts';
import { noPerson } from './persons-word.ts';

/** Lists and the like ask nothing. */
export function guardExchange(exchange: Exchange): Exchange {
  if (!/^(tasks\/|interaction\.)/.test(exchange.method)) return exchange;
  const channel = {
    canAsk: (ask: Ask): boolean => ask.human !== true && exchange.canAsk(ask),
    ask: (ask: Ask, signal?: AbortSignal): Promise<JsonObject> =>
      ask.human ? Promise.reject(noPerson(exchange.client)) : exchange.ask(ask, signal),
  };
  return deriveExchange(exchange, { channel });
}

export function guardWatcher(watcher: Watcher): Watcher {
  const { client } = watcher;
  return {
    client,
    ask: (ask, signal) => (ask.human ? Promise.reject(noPerson(client)) : watcher.ask!(ask, signal)),
    ...(watcher.notify && { notify: (method, params) => watcher.notify!(method, params) }),
    ...(watcher.isPresent && { isPresent: () => watcher.isPresent!() }),
  };
}
