// Tries again to reach a server that says it is busy or starting. Only for what opens a connection: a server that refuses it
// has done nothing yet, while a call may have been made; those are told with `retryAfterMs` and left to the caller.
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../../shared/errors.ts';
import { Backoff } from './backoff.ts';

const ATTEMPTS = 4;
/** Who has to wait longer should know, and not find out. */
const MAX_WAIT_MS = 30_000;

export interface RetryOpeningOptions {
  backoff?: Backoff;
  signal?: AbortSignal | undefined;
  /** Tests give their own. */
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

/** Undefined when waiting would not help. */
function waitAfter(thrown: unknown, backoffMs: number): number | undefined {
  if (!(thrown instanceof GatewayError)) return undefined;
  const passing = thrown.code === 'UPSTREAM_BUSY' || [502, 503, 504].includes(Number(thrown.details.status));
  const waitMs = Math.max(backoffMs, thrown.retryAfterMs ?? 0);
  return passing && waitMs <= MAX_WAIT_MS ? waitMs : undefined;
}
