// Whether something that keeps failing may be tried. Closed: yes. Open: no, until some time has passed. Half open: one at a
// time, and how that goes decides. When one succeeds, the circuit is thrown away.
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

  /** Starts a try, or says for how long none may be made. */
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

  /** A try that showed nothing. */
  leave(): void {
    this.#probing = false;
  }
}
