// Repeats a request to a busy or absent server a few times, with growing pauses. A request that may have arrived is repeated only if that
// does no harm.
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../protocol/message.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

export interface RetrySettings {
  /** Number of tries in all, and the first pause. */
  attempts: number;
  backoffMs: number;
  /** Sending it twice has the same effect as once. */
  isRepeatable: boolean;
  onFeedback?: ((text: string) => void) | undefined;
}

const BUSY = -32000;
const AWAY = new Set(['UPSTREAM_CLOSED', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED']);

export async function retryRequest<T>(request: () => Promise<T>, patience: RetrySettings): Promise<T> {
  const { attempts, backoffMs, onFeedback } = patience;
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (thrown) {
      if (attempt >= attempts || !isPassing(thrown, patience)) throw thrown;
      onFeedback?.(`${thrown.message}; it is tried again.`);
      await sleep(Math.max(thrown.retryAfterMs ?? 0, backoffMs * 2 ** (attempt - 1)));
    }
  }
}

function isPassing(thrown: unknown, { isRepeatable }: RetrySettings): thrown is GatewayError | ProtocolError {
  if (thrown instanceof ProtocolError) return thrown.code === BUSY || (isRepeatable && hasStopped(thrown));
  if (!(thrown instanceof GatewayError)) return false;
  return thrown.code === 'UPSTREAM_BUSY' || (isRepeatable && AWAY.has(thrown.code));
}

/** `GATEWAY_STOPPED`: the server was restarted while it handled the request. */
function hasStopped({ data }: ProtocolError): boolean {
  return isObject(data) && data['stopped'] === true;
}
