// The one back-off: how long to wait before the next attempt to reconnect. Grows exponentially and is jittered over
// the upper half, so that many links that lost the same server do not come back in step. Holds no timer itself.
export interface BackoffOptions {
  firstMs?: number | undefined;
  maxMs?: number | undefined;
  /** Between 0 and 1; tests give their own. */
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
    // The exponent is capped: 2 ** 1024 is Infinity, and a link may try for weeks.
    const fullMs = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return Math.round(fullMs * (0.5 + this.#random() / 2));
  }

  /** The server was heard: the next failure is a first one. */
  reset(): void {
    this.#failures = 0;
  }
}
