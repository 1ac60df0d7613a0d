// How often something may go wrong, by key: at one gateway, or at all that share a state. Only failures are counted, so who makes none never waits.
// Another gateway hears that a key has to wait with the next failure there; while the state does not answer, each gateway counts for itself.
import { ticksOf } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { RateLimiter } from '../base/rate.ts';
import type { Rate } from '../base/rate.ts';
import { BoundedMap } from '../containers/bounded-map.ts';
import type { State } from './state.ts';

interface FailedTriesOptions {
  rate: Rate;
  /** What is tried, among all that share the state. */
  name: string;
  clock: Clock;
  state?: State | undefined;
}

const MAX_KEYS = 10_000;

export class FailedTries {
  readonly #options: FailedTriesOptions;
  readonly #own: RateLimiter;
  /** When all together may try again. */
  readonly #closed = new BoundedMap<string, number>(MAX_KEYS);

  constructor(options: FailedTriesOptions) {
    this.#options = options;
    this.#own = new RateLimiter(options.rate, options.clock);
  }

  /** How long this key has to wait; 0 if it may try. */
  waitMs(key: string): number {
    const closedFor = (this.#closed.peek(key) ?? 0) - ticksOf(this.#options.clock);
    return Math.max(this.#own.waitMs(key), Math.ceil(closedFor), 0);
  }

  /** It has failed. */
  count(key: string): void {
    this.#own.count(key);
    if (this.#options.state?.isShared) void this.#countTogether(key);
  }

  async #countTogether(key: string): Promise<void> {
    const { state, rate, name, clock } = this.#options;
    try {
      const { granted, waitMs } = await state!.draw(`${name} ${key}`, rate, 1);
      if (granted === 0) this.#closed.set(key, ticksOf(clock) + waitMs);
    } catch {
      // The state has logged it, and this gateway counts.
    }
  }
}
