// Calls that wait in memory for their user's answer, by ticket: their requests were answered with questions.
import type { ClientView } from '../../../kernel/exchange.ts';
import { callerOfClient } from '../../../kernel/exchange.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { MemoryOwnedTable } from '../../../kernel/containers/owned-table.ts';
import type { OwnedTable } from '../../../kernel/containers/owned-table.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { RunningRequest } from './running-request.ts';

export interface ParkedCall extends RunningRequest {
  readonly client: ClientView;
  /** Goes on with the request that brings the answers, which is of the same era. */
  resume(retry: ParkedCall): void;
}

export type ParkedCalls = OwnedTable<ParkedCall>;

export function createParkedCalls({ maxParked: max, parkedMs: lifeMs }: Limits, clock: Clock): ParkedCalls {
  return new MemoryOwnedTable<ParkedCall>({
    clock,
    max,
    lifeMs,
    toFull: () => new GatewayError('TOO_MANY', { what: 'calls waiting for an answer', limit: 'maxParked' }),
    onExpired: (call) => call.cancel(),
  });
}

/** Tickets begin with the name of their calls, which is new with every process. */
const NAMES = new WeakMap<ParkedCalls, string>();

function nameOf(calls: ParkedCalls): string {
  const name = NAMES.get(calls) ?? randomId();
  NAMES.set(calls, name);
  return name;
}

/** Whether the ticket is of these calls; if not, it is of a process that has ended, or of another node. */
export function isTicketOf(calls: ParkedCalls, ticket: string): boolean {
  return ticket.startsWith(`${nameOf(calls)} `);
}

/** Returns the ticket, of which each round of questions has its own. Throws TOO_MANY when the caller has too many open questions. */
export function parkCall(call: ParkedCall, calls: ParkedCalls): string {
  const { client } = call;
  const ticket = `${nameOf(calls)} ${randomId()}`;
  calls.add(ticket, call, { owner: client.principal, caller: callerOfClient(client) });
  return ticket;
}
