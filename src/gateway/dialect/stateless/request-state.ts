// `requestState`: a sealed ticket to a parked call. Bound to the principal and to the request it belongs to, so that a
// state taken from one call, tool or user opens nothing elsewhere. Its age is bounded by the parked call itself.
import { createHash } from 'node:crypto';
import type { RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
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
  const salient = [principal, method, namedBy(method, params) ?? null, canonical(params.arguments ?? {})];
  return createHash('sha256').update(JSON.stringify(salient)).digest('base64');
}

/** Clients may write the same arguments in another order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, canonical(value[key])]));
}
