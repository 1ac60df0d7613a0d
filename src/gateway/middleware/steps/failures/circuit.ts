// The state of a circuit breaker. Closed: calls pass. Open: calls are refused for a while. Half open: one call at a time tests
// the server. A success removes the circuit.
import { ticksOf } from '../../../../shared/clock.ts';
import type { Clock } from '../../../../shared/clock.ts';

export interface CircuitOptions {
  /** How many failures in a row open it. */
  failures: number;
  /** How long it stays open. */
  resetMs: number;
  clock: Clock;
}

export class Circuit {
  readonly #options: CircuitOptions;
  #failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Returns 0 if a call may start, or else how long to wait. */
  enter(): number {
    const { clock, failures, resetMs } = this.#options;
    if (this.#failures < failures) return 0;
    const leftMs = this.#openUntil - ticksOf(clock);
    if (leftMs > 0) return Math.ceil(leftMs);
    if (this.#probing) return resetMs;
    this.#probing = true;
    return 0;
  }

  fail(): void {
    this.#failures++;
    this.#probing = false;
    if (this.#failures >= this.#options.failures) {
      this.#openUntil = ticksOf(this.#options.clock) + this.#options.resetMs;
    }
  }

  /** Ends a call that neither failed nor succeeded. */
  leave(): void {
    this.#probing = false;
  }
}
