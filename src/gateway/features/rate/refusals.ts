// How many requests each rate has refused, for as long as the gateway runs: counters do not begin again when rates are changed.
import type { Family } from '../../../kernel/base/metric.ts';

export class Refusals {
  /** By where the rate is configured, so that what callers send adds none. */
  readonly #byLimit = new Map<string, number>();

  add(limit: string): void {
    this.#byLimit.set(limit, (this.#byLimit.get(limit) ?? 0) + 1);
  }

  get family(): Family {
    return {
      name: 'parley_rate_refusals_total',
      help: 'Requests that a rate has refused, by where the rate is configured.',
      type: 'counter',
      samples: [...this.#byLimit].map(([limit, value]) => ({ labels: { limit }, value })),
    };
  }
}
