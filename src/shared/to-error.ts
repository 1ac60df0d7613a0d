// Turns anything thrown into an error of ours. A foreign error keeps itself as cause for the log and loses its message
// for the peer: it may hold paths, queries or secrets.
import { GatewayError, ProtocolError } from './errors.ts';

export function toError(thrown: unknown): GatewayError | ProtocolError {
  if (thrown instanceof GatewayError || thrown instanceof ProtocolError) return thrown;
  if (isProtocolShaped(thrown)) return new ProtocolError(thrown.code, thrown.message, thrown.data);
  return new GatewayError('INTERNAL', {}, { cause: thrown });
}

/** Errors of the official SDKs carry a JSON-RPC code. Other integers are common (gRPC, databases, DOMException) and private. */
function isProtocolShaped(thrown: unknown): thrown is Error & { code: number; data?: unknown } {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false;
  const { code } = thrown;
  return Number.isInteger(code) && (code as number) >= -32768 && (code as number) <= -32000;
}
