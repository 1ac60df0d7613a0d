// One rate of the configuration: counted by this gateway, or together with those that share its state.
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { RateLimiter, readRate } from '../../../kernel/base/rate.ts';
import type { State } from '../../../kernel/state/state.ts';
import type { Refusals } from './refusals.ts';
import { SharedRate } from './shared-rate.ts';
import type { WhenDown } from './shared-rate.ts';

export interface RateContext {
  /** What it limits, for the error. */
  what: string;
  /** Whose rate it is, if each server has one of its own; else empty. */
  server: string;
  whenDown: WhenDown;
  clock: Clock;
  state: State;
  refusals: Refusals;
}

export class ConfiguredRate {
  readonly #limiter: RateLimiter | SharedRate;
  readonly #about: { what: string; rate: string; limit: string };
  readonly #refusals: Refusals;

  /** `option` is where it is configured. */
  constructor(rate: string, option: string, { what, server, whenDown, clock, state, refusals }: RateContext) {
    const read = readRate(rate);
    if (!read) throw new GatewayError('BAD_OPTION', { option, reason: 'it must be a rate such as "60/min"' });
    const name = JSON.stringify([option, server, rate]);
    this.#limiter = state.isShared
      ? new SharedRate({ rate: read, name, state, clock, whenDown })
      : new RateLimiter(read, clock);
    this.#about = { what, rate, limit: option };
    this.#refusals = refusals;
  }

  /** Throws RATE_LIMITED. A promise if it has to be looked up; then ask again. */
  check(key: string): Promise<unknown> | undefined {
    const retryAfterMs = this.#limiter.waitMs(key);
    if (typeof retryAfterMs === 'object') return retryAfterMs;
    if (retryAfterMs <= 0) return undefined;
    this.#refusals.add(this.#about.limit);
    throw new GatewayError('RATE_LIMITED', { ...this.#about, retryAfterMs });
  }

  /** Counts one. Throws, or rejects with, RATE_LIMITED. */
  take(key: string): Promise<void> | undefined {
    const looking = this.check(key);
    if (looking) return looking.then(() => this.take(key));
    this.count(key);
    return undefined;
  }

  count(key: string): void {
    this.#limiter.count(key);
  }
}
