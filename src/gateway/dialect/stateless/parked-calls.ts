// Calls that wait between two requests for their user's answer. The handler stays in memory; the client carries a
// sealed ticket, which works once: each round of questions has its own.
import { callerOfClient } from '../../../protocol/exchange.ts';
import type { Clock } from '../../../shared/clock.ts';
import { MemoryOwnedTable } from '../../../shared/containers/owned-table.ts';
import type { OwnedTable } from '../../../shared/containers/owned-table.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { Limits } from '../../../shared/limits.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

export type ParkedCalls = OwnedTable<StatelessExchange>;

export function createParkedCalls({ maxParked: max, parkedMs: lifeMs }: Limits, clock: Clock): ParkedCalls {
  const toFull = (): GatewayError => tooMany('calls waiting for an answer', 'maxParked');
  return new MemoryOwnedTable<StatelessExchange>({
    clock,
    max,
    lifeMs,
    toFull,
    onExpired: (exchange) => exchange.abandon(),
  });
}

/** Returns the ticket. Throws TOO_MANY when the caller has too many open questions. */
export function parkCall(exchange: StatelessExchange, calls: ParkedCalls): string {
  const { client } = exchange;
  const ticket = randomId();
  calls.add(ticket, exchange, { owner: client.principal, caller: callerOfClient(client) });
  exchange.round++;
  return ticket;
}

export function tooMany(what: string, limit: string): GatewayError {
  return new GatewayError('TOO_MANY', { what, limit });
}
