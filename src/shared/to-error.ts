// Converts anything thrown into one of our errors. A foreign error is kept as the cause for the log, but its message is
// withheld from the peer: it may contain paths, queries or secrets.
import { GatewayError, ProtocolError } from './errors.ts';

export function toError(thrown: unknown): GatewayError | ProtocolError {
  if (thrown instanceof GatewayError || thrown instanceof ProtocolError) return thrown;
  if (isProtocolShaped(thrown)) return new ProtocolError(thrown.code, thrown.message, thrown.data);
  return new GatewayError('INTERNAL', {}, { cause: thrown });
}

/**
 * Errors of the official SDKs have a JSON-RPC code. Other integers are common (gRPC, databases, DOMException) and
 * private.
 */
function isProtocolShaped(thrown: unknown): thrown is Error & { code: number; data?: unknown } {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false;
  const { code } = thrown;
  return Number.isInteger(code) && (code as number) >= -32768 && (code as number) <= -32000;
}
