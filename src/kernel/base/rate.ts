// How often something may happen, by key: `60/min` allows 60 at once, and then one more each second. A key costs one number, the time at
// which its allowance will be whole again (GCRA), and the oldest keys are forgotten. Counting is synchronous and needs no timer.
import { BoundedMap } from '../containers/bounded-map.ts';
import { ticksOf } from './clock.ts';
import type { Clock } from './clock.ts';

export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** `10/s`, `60/min`, `1000/h`, `5000/day`. */
export const RATE_PATTERN = '^([1-9]\\d{0,8})/(s|min|h|day)$';
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000, day: 86_400_000 };
const MAX_KEYS = 10_000;

/** Undefined if it is something else. */
export function readRate(text: string): Rate | undefined {
  const [, count, unit] = new RegExp(RATE_PATTERN).exec(text) ?? [];
  return unit === undefined ? undefined : { count: Number(count), perMs: UNIT_MS[unit]! };
}

export class RateLimiter {
  readonly #stepMs: number;
  readonly #burstMs: number;
  readonly #clock: Clock;
  /** When the allowance of a key is whole again. */
  readonly #wholeAt: BoundedMap<string, number>;

  constructor({ count, perMs }: Rate, clock: Clock, maxKeys = MAX_KEYS) {
    this.#stepMs = perMs / count;
    this.#burstMs = perMs - this.#stepMs;
    this.#clock = clock;
    this.#wholeAt = new BoundedMap(maxKeys);
  }

  /** How long this key has to wait; 0 if it may proceed now. Counts nothing. */
  waitMs(key: string): number {
    const wholeAt = this.#wholeAt.peek(key);
    return wholeAt === undefined ? 0 : Math.max(0, Math.ceil(wholeAt - ticksOf(this.#clock) - this.#burstMs));
  }

  count(key: string): void {
    const now = ticksOf(this.#clock);
    this.#wholeAt.set(key, Math.max(now, this.#wholeAt.peek(key) ?? 0) + this.#stepMs);
  }

  /** Counts it if it may proceed, and returns 0; otherwise returns how long it has to wait. */
  take(key: string): number {
    const waitMs = this.waitMs(key);
    if (waitMs === 0) this.count(key);
    return waitMs;
  }
}
