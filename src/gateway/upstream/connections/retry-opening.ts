// Retries opening a connection to a server that is busy or starting. Only an opening is safe to retry here, because the server
// has not acted yet; a failed call carries `retryAfterMs` and its caller decides.
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.ts';
import { Backoff } from './backoff.ts';

const ATTEMPTS = 4;
/** A longer wait is reported to the caller instead. */
const MAX_WAIT_MS = 30_000;

export interface RetryOpeningOptions {
  backoff?: Backoff;
  signal?: AbortSignal | undefined;
  /** Tests pass their own. */
  pause?: (ms: number) => Promise<unknown>;
}

export async function retryOpening<T>(work: () => Promise<T>, patience: RetryOpeningOptions = {}): Promise<T> {
  const { backoff = new Backoff({ firstMs: 250 }), signal } = patience;
  const { pause = (ms) => sleep(ms, undefined, { signal }) } = patience;
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const waitMs = waitAfter(thrown, backoff.nextMs());
      if (waitMs === undefined || backoff.failures >= ATTEMPTS) throw thrown;
      await pause(waitMs);
    }
  }
}

/** Undefined if waiting would not help. */
function waitAfter(thrown: unknown, backoffMs: number): number | undefined {
  if (!(thrown instanceof GatewayError)) return undefined;
  const passing = thrown.code === 'UPSTREAM_BUSY' || [502, 503, 504].includes(Number(thrown.details.status));
  const waitMs = Math.max(backoffMs, thrown.retryAfterMs ?? 0);
  return passing && waitMs <= MAX_WAIT_MS ? waitMs : undefined;
}
