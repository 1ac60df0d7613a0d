// The state of one process, which ends with it. Time is that of the system, as times in tokens are.
import type { Clock } from '../base/clock.ts';
import type { State } from './state.ts';

const MAX_TAKEN = 100_000;

export class MemoryState implements State {
  readonly #clock: Clock;
  /** When each key may be taken again, in the order in which they were taken. */
  readonly #taken = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take(key: string, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now();
    this.#forgetOldest(now);
    if ((this.#taken.get(key) ?? 0) > now) return false;
    if (this.#taken.size >= MAX_TAKEN) this.#forgetAllOver(now);
    if (this.#taken.size >= MAX_TAKEN) return false;
    this.#taken.delete(key); // a key that is taken again moves to the end
    this.#taken.set(key, now + ttlMs);
    return true;
  }

  async close(): Promise<void> {
    this.#taken.clear();
  }

  #forgetOldest(now: number): void {
    for (const [key, until] of this.#taken) {
      if (until > now) return;
      this.#taken.delete(key);
    }
  }

  #forgetAllOver(now: number): void {
    for (const [key, until] of this.#taken) if (until <= now) this.#taken.delete(key);
  }
}
