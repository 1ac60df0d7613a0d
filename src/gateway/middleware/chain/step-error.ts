// What goes wrong in a step, in its name. Of a foreign error the client learns which step it was and the id of the exchange, under which
// the log has the error itself: its words may hold anything.
import { GatewayError } from '../../../shared/errors.ts';
import type { ProtocolError } from '../../../shared/errors.ts';
import { toError } from '../../../shared/to-error.ts';

/** Errors of ours are meant as they are, whether the step threw them or let them pass. */
export function toStepError(step: string, thrown: unknown, exchange = ''): GatewayError | ProtocolError {
  const error = toError(thrown);
  if (error === thrown || !(error instanceof GatewayError)) return error;
  return new GatewayError('STEP_FAILED', { step, ...(exchange !== '' && { exchange }) }, { cause: thrown });
}

/** The rules of docs/middleware.md were broken. */
export function misuseError(step: string, reason: string): GatewayError {
  return new GatewayError('STEP_MISUSED', { step, reason });
}
