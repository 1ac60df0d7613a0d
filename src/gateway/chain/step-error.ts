// Errors of steps, under the name of the step. For a foreign error the client gets only the step and the id of the exchange,
// because its message may hold anything; the log has the error itself.
import { GatewayError, toError } from '../../kernel/base/errors.ts';
import type { ProtocolError } from '../../kernel/base/errors.ts';

/** Parley errors are kept, whether the step threw them or passed them on. */
export function toStepError(step: string, thrown: unknown, exchange = ''): GatewayError | ProtocolError {
  const error = toError(thrown);
  if (error === thrown || !(error instanceof GatewayError)) return error;
  return new GatewayError('STEP_FAILED', { step, ...(exchange !== '' && { exchange }) }, { cause: thrown });
}

/** A step has broken the rules of docs/middleware.md. */
export function misuseError(step: string, reason: string): GatewayError {
  return new GatewayError('STEP_MISUSED', { step, reason });
}
