// What goes wrong in a step, in its name. A foreign error becomes INTERNAL: the client learns nothing of it, the log has the
// step and the error itself.
import { GatewayError } from '../../shared/errors.ts';
import type { ProtocolError } from '../../shared/errors.ts';
import { toError } from '../../shared/to-error.ts';

/** Errors of ours are meant as they are, whether the step threw them or let them pass. */
export function toStepError(step: string, thrown: unknown): GatewayError | ProtocolError {
  const error = toError(thrown);
  if (error === thrown || !(error instanceof GatewayError)) return error;
  const cause = new Error(`Step ${step} failed`, { cause: thrown });
  return new GatewayError('INTERNAL', { step }, { cause });
}

/** The rules of docs/middleware.md were broken. */
export function misused(step: string, reason: string): GatewayError {
  return new GatewayError('STEP_MISUSED', { step, reason });
}
