// Detects errors that say nothing about the request: the server could not be reached, timed out, or was busy, so the same request
// may succeed later. An error answered by the server itself is final.
import type { ErrorCode } from '../../kernel/base/error-table.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

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
