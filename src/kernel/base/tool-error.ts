// A call of a tool that did not finish has an error of its own, since the tool may have run.
import { GatewayError } from './errors.ts';

export function toToolError(error: Error, server: string): Error {
  const isLost =
    error instanceof GatewayError && (error.code === 'UPSTREAM_CLOSED' || error.code === 'UPSTREAM_TIMEOUT');
  return isLost ? new GatewayError('TOOL_UNREACHABLE', { reason: error.message, server }, { cause: error }) : error;
}
