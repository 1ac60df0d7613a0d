// Seals and opens `requestState`: either a ticket to a parked call, or everything needed to repeat a call. It is bound
// to the principal and the request, so it is useless for another call, tool or user.
import type { RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { sha256 } from '../../../shared/crypto/lazy-crypto.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import { namedBy } from './headers.ts';

/** A call that was answered with questions. */
export interface SuspendedState {
  /** The handler's own state; null if it gave none. */
  state: string | null;
  /** The server that asked, if there are several. */
  server: string | null;
  suspensions: number;
  expiresAt: number;
}

export type RequestState = { ticket: string } | { kept: SuspendedState };

const PURPOSE = 'request-state';

export function sealState(sealer: Sealer, request: RequestMessage, principal: string, state: RequestState): string {
  return sealer.seal(PURPOSE, bindingOf(request, principal), state);
}

/** Undefined unless it was sealed here for this request and principal. */
export function openState(sealer: Sealer, request: RequestMessage, principal: string): RequestState | undefined {
  const sealed = request.params?.requestState;
  const payload = typeof sealed === 'string' ? sealer.open(PURPOSE, bindingOf(request, principal), sealed) : undefined;
  return isObject(payload) ? (payload as unknown as RequestState) : undefined;
}

function bindingOf({ method, params = {} }: RequestMessage, principal: string): string {
  // Canonical, because clients may reorder the arguments.
  const salient = [principal, method, namedBy(method, params) ?? null, params.arguments ?? {}];
  return sha256(canonicalJson(salient), 'base64');
}
