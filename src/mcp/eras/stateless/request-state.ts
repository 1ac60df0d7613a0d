// What connects the requests of a call that asks: `requestState`, which the client carries. It is either a ticket to a
// call that is parked in memory, which works once, or everything needed to repeat a call. It is sealed and bound to the
// principal and the request, so it is useless for another call, tool or user.
import { callerOfClient } from '../../../kernel/exchange.ts';
import { canonicalExactly } from '../../../kernel/raw/canonical-exactly.ts';
import { isObject } from '../../../kernel/message.ts';
import type { RequestMessage } from '../../../kernel/message.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { MemoryOwnedTable } from '../../../kernel/containers/owned-table.ts';
import type { OwnedTable } from '../../../kernel/containers/owned-table.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import { namedBy } from './headers.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

/** Calls that wait in memory for their user's answer, by ticket. */
export type ParkedCalls = OwnedTable<StatelessExchange>;

export function createParkedCalls({ maxParked: max, parkedMs: lifeMs }: Limits, clock: Clock): ParkedCalls {
  return new MemoryOwnedTable<StatelessExchange>({
    clock,
    max,
    lifeMs,
    toFull: () => new GatewayError('TOO_MANY', { what: 'calls waiting for an answer', limit: 'maxParked' }),
    onExpired: (exchange) => void exchange.cancel(),
  });
}

/** Returns the ticket. Throws TOO_MANY when the caller has too many open questions. */
export function parkCall(exchange: StatelessExchange, calls: ParkedCalls): string {
  const { client } = exchange;
  const ticket = randomId(); // each round of questions has its own
  calls.add(ticket, exchange, { owner: client.principal, caller: callerOfClient(client) });
  exchange.round++;
  return ticket;
}

/** A call that was answered with questions, and is repeated with the answers. */
export interface SuspendedState {
  /** The handler's own state; null if it gave none. */
  state: string | null;
  /** The server that asked, if there are several. */
  server: string | null;
  suspensions: number;
  expiresAt: number;
}

type RequestState = { ticket: string } | { kept: SuspendedState };

const PURPOSE = 'request-state';

export function sealState(sealer: Sealer, request: RequestMessage, principal: string, state: RequestState): string {
  return sealer.seal(PURPOSE, bindingOf(request, principal), state);
}

/** Throws STATE_INVALID unless it was sealed here for this request and principal. */
export function openState(sealer: Sealer, request: RequestMessage, principal: string): RequestState {
  const sealed = request.params?.requestState;
  const payload = typeof sealed === 'string' ? sealer.open(PURPOSE, bindingOf(request, principal), sealed) : undefined;
  if (!isObject(payload)) throw new GatewayError('STATE_INVALID');
  return payload as unknown as RequestState;
}

function bindingOf({ method, params = {} }: RequestMessage, principal: string): string {
  // Canonical, because clients may reorder the arguments.
  const salient = [principal, method, namedBy(method, params) ?? null, params.arguments ?? {}];
  return sha256(canonicalExactly(salient), 'base64');
}
