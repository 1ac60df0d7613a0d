// Logs a failed exchange under the id that the client's error carries. The client's own mistakes are not logged as
// errors: an operator cannot fix them.
import type { Exchange } from '../../../protocol/exchange.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { ProtocolError } from '../../../shared/errors.ts';
import type { Log } from '../../../shared/log.ts';

export function logFailure(log: Log, about: Pick<Exchange, 'id' | 'method' | 'server'>, error: Failure): void {
  if (!(error instanceof GatewayError) || error.row.fault === 'client') return;
  const { id: exchange, method, server } = about;
  const { code, message, cause, details } = error;
  if (code === 'INTERNAL') log.error({ exchange, method, cause }, 'exchange.failed');
  else if (code === 'STEP_FAILED') log.error({ exchange, method, step: details.step, cause }, 'exchange.failed');
  else
    log.warn({ exchange, method, ...(server !== undefined && { server }), code, reason: message }, 'exchange.failed');
}

type Failure = GatewayError | ProtocolError;
