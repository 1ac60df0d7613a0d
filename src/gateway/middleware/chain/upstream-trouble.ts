// Errors that say nothing about the request: the server could not be reached, fell silent, or had too much to do. The same
// request may well succeed later. What a server itself answers is its last word.
import type { ErrorCode } from '../../../shared/error-table.ts';
import { GatewayError } from '../../../shared/errors.ts';

const TROUBLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOOL_UNREACHABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_CLOSED',
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_FAILED',
  'UPSTREAM_BUSY',
]);

export function isUpstreamTrouble(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && TROUBLE.has(thrown.code);
}
