// Remembers the proofs that were used, for as long as they would count. What is full refuses: a proof that was forgotten too early could be
// used twice.
import type { Clock } from '../../../shared/clock.ts';

const MAX_PROOFS = 100_000;

export class SpentProofs {
  readonly #clock: Clock;
  readonly #spanMs: number;
  /** Two spans of time: what is in neither is too old to count. */
  #now = new Set<string>();
  #before = new Set<string>();
  #startedAt: number;

  /** `spanMs`: how long a proof can count. */
  constructor(clock: Clock, spanMs: number) {
    this.#clock = clock;
    this.#spanMs = spanMs;
    this.#startedAt = clock.now();
  }

  /** False if it was used before, or if nothing more can be remembered. */
  spend(key: string, id: string): boolean {
    this.#turn();
    const name = `${key} ${id}`;
    if (this.#now.has(name) || this.#before.has(name) || this.#now.size >= MAX_PROOFS) return false;
    this.#now.add(name);
    return true;
  }

  #turn(): void {
    const age = this.#clock.now() - this.#startedAt;
    if (age < this.#spanMs) return;
    this.#before = age < 2 * this.#spanMs ? this.#now : new Set();
    this.#now = new Set();
    this.#startedAt = this.#clock.now();
  }
}
