// Spent tokens in the memory of this process.
import type { Clock } from '../../../kernel/base/clock.ts';
import type { SpentTokens } from '../store.ts';

/** From this number on, all of them are checked for expiry now and then. */
const MANY = 1000;

export class MemorySpentTokens implements SpentTokens {
  readonly #clock: Clock;
  readonly #spent = new Map<string, number>();
  #most = MANY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const isFull = this.#spent.size >= this.#most; // one that is kept for days must not block those behind it
    for (const [key, until] of this.#spent) {
      if (until <= now) this.#spent.delete(key);
      else if (!isFull) break;
    }
    if (isFull) this.#most = Math.max(MANY, 2 * this.#spent.size);
    const key = `${rev} ${id}`;
    if ((this.#spent.get(key) ?? 0) > now) return false;
    this.#spent.set(key, now + ttlMs);
    return true;
  }

  clear(): void {
    this.#spent.clear();
  }
}
