// How many clients may register. Everybody may register some: an address a few, the network around it more, because one person can have a whole
// network, and all together so many that the room for clients does not fill. Clients that are registered never come here.
import type { Clock } from '../../../../shared/clock.ts';
import { GatewayError } from '../../../../shared/errors.ts';
import { REGISTRATIONS } from '../../../../shared/limits.ts';
import { networkOf, widerNetworkOf } from '../../../../shared/http.ts';
import { RateLimiter, readRate } from '../../../../shared/rate.ts';

type Whose = keyof typeof REGISTRATIONS;
const WHAT: Record<Whose, string> = { address: 'an address', network: 'a network', all: 'the gateway' };

export class Registrations {
  readonly #limiters: Record<Whose, RateLimiter>;

  constructor(clock: Clock) {
    const limiterOf = (whose: Whose) => new RateLimiter(readRate(REGISTRATIONS[whose])!, clock);
    this.#limiters = { address: limiterOf('address'), network: limiterOf('network'), all: limiterOf('all') };
  }

  /** Counts one, or throws RATE_LIMITED. */
  count(address: string): void {
    const network = networkOf(address);
    const keys = { address: network, network: widerNetworkOf(network), all: '' };
    const all = Object.keys(keys) as Whose[];
    for (const whose of all) {
      const retryAfterMs = this.#limiters[whose].waitMs(keys[whose]);
      if (retryAfterMs === 0) continue;
      const about = { what: WHAT[whose], rate: REGISTRATIONS[whose], limit: 'registrations' };
      throw new GatewayError('RATE_LIMITED', { ...about, retryAfterMs });
    }
    for (const whose of all) this.#limiters[whose].count(keys[whose]);
  }
}
