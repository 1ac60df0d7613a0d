// Computes the delay before the next reconnection attempt. It grows exponentially, and jitter over its upper half keeps links
// that lost the same server from retrying at the same moment. Holds no timer.
export interface BackoffOptions {
  firstMs?: number | undefined;
  maxMs?: number | undefined;
  /** Returns a number between 0 and 1; tests pass their own. */
  random?: (() => number) | undefined;
}

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
