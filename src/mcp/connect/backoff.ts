// The waits between attempts to reach a server.
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../kernel/base/errors.ts';

export interface BackoffOptions {
  firstMs?: number | undefined;
  maxMs?: number | undefined;
  /** Returns a number between 0 and 1; tests pass their own. */
  random?: (() => number) | undefined;
}

/** Grows exponentially. Jitter over the upper half keeps links that lost the same server from retrying at the same moment. Holds no timer. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor({ firstMs = 500, maxMs = 30_000, random = Math.random }: BackoffOptions = {}) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Calls of `nextMs` since the last `reset`. */
  get failures(): number {
    return this.#failures;
  }

  nextMs(): number {
    // The exponent is capped: 2 ** 1024 is Infinity, and a link may retry for weeks.
    const fullMs = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return Math.round(fullMs * (0.5 + this.#random() / 2));
  }

  /** Called when the server responds: the next failure counts as the first. */
  reset(): void {
    this.#failures = 0;
  }
}

const ATTEMPTS = 4;
/** A longer wait is reported to the caller instead. */
const MAX_WAIT_MS = 30_000;

interface RetryOpeningOptions {
  backoff?: Backoff;
  signal?: AbortSignal | undefined;
  /** Tests pass their own. */
  pause?: (ms: number) => Promise<unknown>;
}

/**
 * Retries opening a connection to a server that is busy or starting. Only an opening is safe to retry here, because the server has not acted yet; a failed
 * call carries `retryAfterMs` and its caller decides.
 */
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
