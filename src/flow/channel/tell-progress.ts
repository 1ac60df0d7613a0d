// What steps say of how far they are, told to the client whose call waits for them.
import type { Exchange } from '../../protocol/exchange.ts';
import type { Step } from '../../protocol/prompt.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Sessions } from '../session/sessions.ts';

export interface Telling {
  /** The session that is meant, where it was not known at first: steps may begin before it has a name here. */
  of(sessionId: string): void;
  stop(): void;
}

/** Sessions that begin at the same moment. */
const MAX_EARLY = 1000;

export function tellProgress(exchange: Exchange, sessions: Sessions, sessionId?: string): Telling {
  let id = sessionId;
  const early = new BoundedMap<string, Step>(MAX_EARLY);
  const stop = sessions.on((event) => {
    if (event.kind !== 'progress') return;
    if (id === undefined) early.set(event.header.id, event.progress);
    else if (event.header.id === id) tell(exchange, event.progress);
  });
  return {
    stop,
    of(found) {
      id = found;
      const said = early.get(found);
      if (said) tell(exchange, said);
    },
  };
}

const furthest = new WeakMap<Exchange, number>();

/** MCP wants progress to grow with each notification. */
export function tell(exchange: Exchange, { current, ...rest }: Step): void {
  if (current <= (furthest.get(exchange) ?? -Infinity)) return;
  furthest.set(exchange, current);
  exchange.progress({ ...rest, progress: current });
}
