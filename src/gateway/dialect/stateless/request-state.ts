// `requestState`: a sealed ticket to a parked call. Bound to the principal and to the request it belongs to, so that a
// state taken from one call, tool or user opens nothing elsewhere. Its age is bounded by the parked call itself.
import { createHash } from 'node:crypto';
import type { RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { canonicalJson } from '../../../shared/canonical.ts';
import type { Sealer } from '../../../shared/seal.ts';
import { namedBy } from './headers.ts';
import type { Ticket } from './parked-calls.ts';

const PURPOSE = 'request-state';

export function sealState(sealer: Sealer, request: RequestMessage, principal: string, ticket: Ticket): string {
  return sealer.seal(PURPOSE, bindingOf(request, principal), ticket);
}

/** The ticket, or undefined for anything that was not sealed here for this very request and principal. */
export function openState(
  sealer: Sealer,
  request: RequestMessage,
  principal: string,
  state: string,
): Ticket | undefined {
  const payload = sealer.open(PURPOSE, bindingOf(request, principal), state);
  return isObject(payload) ? (payload as unknown as Ticket) : undefined;
}

function bindingOf({ method, params = {} }: RequestMessage, principal: string): string {
  // Clients may write the same arguments in another order.
  const salient = [principal, method, namedBy(method, params) ?? null, params.arguments ?? {}];
  return createHash('sha256').update(canonicalJson(salient)).digest('base64');
}
