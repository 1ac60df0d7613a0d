// A request to a server that may be busy, or away for a moment: made again with pauses that grow, so often and no oftener. What may have
// reached the server is made again only where that does no harm.
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

export interface RetrySettings {
  /** How often it is tried in all, and how long the first pause is. */
  attempts: number;
  backoffMs: number;
  /** The server may have seen it, and seeing it twice is seeing it once. */
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
  if (thrown instanceof ProtocolError) return thrown.code === BUSY;
  if (!(thrown instanceof GatewayError)) return false;
  return thrown.code === 'UPSTREAM_BUSY' || (isRepeatable && AWAY.has(thrown.code));
}
