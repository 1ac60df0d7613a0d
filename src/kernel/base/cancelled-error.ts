// Four ways in which a call or a question ends without an answer. All of them are CANCELLED to a peer that still listens, but what follows from them differs:
// only a question whose call was answered may be asked again, and only a client that is gone may come back.
import { CLIENT_GONE, CONNECTION_CLOSED } from './cancellation.ts';
import type { Abortable } from './cancellation.ts';
import { GatewayError } from './errors.ts';

export type CancelOutcome =
  /** The user or the client stopped the call. */
  | 'cancelled'
  /** The call that asked has its answer. */
  | 'answered'
  /** The client has left without a word, and may come back. */
  | 'gone'
  /** The asker no longer needs the answer. */
  | 'withdrawn';

export function cancelledError(outcome: CancelOutcome, options?: ErrorOptions): GatewayError {
  return new GatewayError('CANCELLED', { outcome }, options);
}

/** For a call whose caller has aborted. */
export function cancelledBy(signal: Pick<Abortable, 'reason'> | undefined, options?: ErrorOptions): GatewayError {
  return cancelledError(isGone(signal?.reason) ? 'gone' : 'cancelled', options);
}

/** Whether this reason of an abort says that the client has left without a word. */
export function isGone(reason: unknown): boolean {
  return reason === CLIENT_GONE || reason === CONNECTION_CLOSED;
}

/** Undefined for any other error. */
export function outcomeOf(thrown: unknown): CancelOutcome | undefined {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'CANCELLED') return undefined;
  return (thrown.details['outcome'] as CancelOutcome | undefined) ?? 'cancelled';
}
