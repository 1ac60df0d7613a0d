// How often callers may call.
import { defineFeature } from '../feature.ts';
import { RateLimits, hasToolRates } from './rate-limits.ts';
import type { RateOptions } from './rate-limits.ts';

export interface RateFeatureOptions {
  /** How often callers may call. Default: as often as they like. */
  rate?: RateOptions | undefined;
}

export interface RateSettings {
  /** How often callers may call it. */
  rate?: RateOptions | undefined;
}

export const rate = defineFeature<RateFeatureOptions>({
  name: 'rate',
  create({ rate: options }, { clock, state }) {
    const limits = new RateLimits(options, { clock, state });
    return {
      layer: limits.layer,
      liveSettings: ['rate'],
      metrics: () => [limits.refusals.family],
      member: (member) => limits.member(member),
      goesByName: (members) => hasToolRates(limits.options, members),
      update(next: RateFeatureOptions) {
        if (!('rate' in next)) return undefined;
        limits.options = next.rate ?? {};
        return 'steps';
      },
      checkpoint: () => limits.checkpoint(),
    };
  },
});
