// What connects the requests of a call that asks: `requestState`, which the client carries. It is either a ticket to a
// call that is parked in memory, which works once, or everything needed to repeat a call. It is sealed and bound to the
// principal, the request and its mark, so it is useless for another call, tool or user, and altered nowhere.
import { canonicalExactly } from '../../../kernel/raw/canonical-exactly.ts';
import { isObject } from '../../../kernel/message.ts';
import type { RequestMessage } from '../../../kernel/message.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { markIn, withoutMark } from '../../../kernel/nodes/nodes.ts';
import { namedBy } from './headers.ts';

/** A call that was answered with questions, and is repeated with the answers. */
export interface SuspendedState {
  /** The handler's own state; null if it gave none. */
  state: string | null;
  /** The server that asked, if there are several. */
  server: string | null;
  suspensions: number;
  expiresAt: number;
}

/** `sent`: a server had the call, and may have acted, when it was parked. Earlier versions do not say it. */
type RequestState = { ticket: string; sent?: boolean | undefined } | { kept: SuspendedState };

const PURPOSE = 'request-state';

/** `mark`: of the node at which the call is parked, or which has the process that asked. */
export function sealState(
  { sealer, mark }: { sealer: Sealer; mark?: string | false | undefined },
  request: RequestMessage,
  principal: string,
  state: RequestState,
): string {
  const own = mark || '';
  return sealer.seal(PURPOSE, bindingOf(request, { principal, mark: own }), state) + own;
}

/** Throws STATE_INVALID unless it was sealed here for this request and principal. */
export function openState(sealer: Sealer, request: RequestMessage, principal: string): RequestState {
  const sealed = request.params?.requestState;
  if (typeof sealed !== 'string') throw new GatewayError('STATE_INVALID');
  const binding = bindingOf(request, { principal, mark: markIn(sealed) });
  const payload = sealer.open(PURPOSE, binding, withoutMark(sealed));
  if (!isObject(payload)) throw new GatewayError('STATE_INVALID');
  return payload as unknown as RequestState;
}

function bindingOf(
  { method, params = {} }: RequestMessage,
  { principal, mark }: { principal: string; mark: string },
): string {
  // Canonical, because clients may reorder the arguments.
  const salient = [principal, method, namedBy(method, params) ?? null, params.arguments ?? {}, mark];
  return sha256(canonicalExactly(salient), 'base64');
}
