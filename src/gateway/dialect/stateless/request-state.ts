// `requestState`: sealed, either a ticket to a call that waits here, or all that a call needs to be made again. Bound to the
// principal and to the request it belongs to, so that a state taken from one call, tool or user opens nothing elsewhere.
import type { RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { lazyCrypto } from '../../../shared/crypto/lazy-crypto.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import { namedBy } from './headers.ts';
import type { Ticket } from './parked-calls.ts';

/** A call that was ended with questions. */
export interface SuspendedState {
  /** Of the handler that asked; null where it gave none. */
  state: string | null;
  /** Which server was asked, where there are several. */
  server: string | null;
  suspensions: number;
  expiresAt: number;
}

export type RequestState = { ticket: Ticket } | { kept: SuspendedState };

const PURPOSE = 'request-state';

export function sealState(sealer: Sealer, request: RequestMessage, principal: string, state: RequestState): string {
  return sealer.seal(PURPOSE, bindingOf(request, principal), state);
}

/** Undefined for anything that was not sealed here for this very request and principal. */
export function openState(sealer: Sealer, request: RequestMessage, principal: string): RequestState | undefined {
  const sealed = request.params?.requestState;
  const payload = typeof sealed === 'string' ? sealer.open(PURPOSE, bindingOf(request, principal), sealed) : undefined;
  return isObject(payload) ? (payload as unknown as RequestState) : undefined;
}

function bindingOf({ method, params = {} }: RequestMessage, principal: string): string {
  // Clients may write the same arguments in another order.
  const salient = [principal, method, namedBy(method, params) ?? null, params.arguments ?? {}];
  return lazyCrypto().createHash('sha256').update(canonicalJson(salient)).digest('base64');
}
