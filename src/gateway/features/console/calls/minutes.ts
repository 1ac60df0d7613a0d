// Calls per minute of the last hour: how many, how many failed, and how long they took.
import type { Clock } from '../../../../kernel/base/clock.ts';
import type { MinuteView } from '../views.ts';

interface Minute {
  readonly at: number;
  calls: number;
  errors: number;
  /** By duration: each bucket is 1.41 times as long as the one before. */
  readonly buckets: Uint32Array;
}

const MINUTE_MS = 60_000;
const KEPT = 60;
const BUCKETS = 44;

export class Minutes {
  readonly #clock: Clock;
  /** The oldest first; minutes without a call are left out. */
  #minutes: Minute[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(ms: number, isError: boolean): void {
    const minute = this.#now();
    minute.calls++;
    if (isError) minute.errors++;
    minute.buckets[bucketOf(ms)]!++;
  }

  get list(): MinuteView[] {
    const first = this.#clock.now() - KEPT * MINUTE_MS;
    return this.#minutes.filter(({ at }) => at > first).map(toView);
  }

  #now(): Minute {
    const at = Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS;
    const last = this.#minutes.at(-1);
    if (last?.at === at) return last;
    const fresh = { at, calls: 0, errors: 0, buckets: new Uint32Array(BUCKETS) };
    this.#minutes = [...this.#minutes.slice(1 - KEPT), fresh];
    return fresh;
  }
}

function toView({ at, calls, errors, buckets }: Minute): MinuteView {
  return { at, calls, errors, p50: quantile(buckets, calls * 0.5), p95: quantile(buckets, calls * 0.95) };
}

function bucketOf(ms: number): number {
  return Math.min(BUCKETS - 1, Math.max(0, Math.round(2 * Math.log2(Math.max(ms, 0.5))) + 2));
}

/** The duration that so many calls did not exceed. */
function quantile(buckets: Uint32Array, count: number): number {
  let seen = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    seen += buckets[bucket]!;
    if (seen >= count) return Math.round(2 ** ((bucket - 2) / 2) * 10) / 10;
  }
  return 0;
}
