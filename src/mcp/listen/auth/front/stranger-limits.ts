// What strangers may do at the authorization server: register clients, begin logins, and name places to be sent back to. Everybody may do some of
// each, so each has a limit.
import type { Clock } from '../../../../kernel/base/clock.ts';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import {
  MAX_OPEN_VISITS,
  MAX_VISIT_CHARS,
  MAX_VISIT_PARAMETER_CHARS,
  REGISTRATIONS,
} from '../../../../kernel/base/limits.ts';
import { networkOf, widerNetworkOf } from '../../../../kernel/net/network.ts';
import { RateLimiter, readRate } from '../../../../kernel/base/rate.ts';
import { isLoopbackHost } from '../../../../kernel/net/address-kind.ts';

type Whose = keyof typeof REGISTRATIONS;
const WHAT: Record<Whose, string> = { address: 'an address', network: 'a network', all: 'the gateway' };

/**
 * How many clients may register: an address a few, the network around it more, because one person can have a whole network, and all together so
 * many that the room for clients does not fill. Clients that are registered never come here.
 */
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

/**
 * The logins that were begun last, by network address. Each is a record: an address that begins many loses its oldest ones, and when all together
 * are too many, the address with most of them does. Those that are finished or over need not be removed here: they are the oldest, so they go
 * first.
 */
export class OpenVisits {
  readonly #limits: typeof MAX_OPEN_VISITS;
  /** Oldest first. */
  readonly #byAddress = new Map<string, Set<string>>();
  #count = 0;

  constructor(limits = MAX_OPEN_VISITS) {
    this.#limits = limits;
  }

  /** Returns the visit that has to make room, if one has to. */
  begin(address: string, id: string): string | undefined {
    const own = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, own.add(id));
    this.#count++;
    if (own.size > this.#limits.perAddress) return this.#drop(address);
    return this.#count > this.#limits.all ? this.#drop(this.#busiest()) : undefined;
  }

  #drop(address: string): string {
    const own = this.#byAddress.get(address)!;
    const [oldest] = own;
    own.delete(oldest!);
    this.#count--;
    if (own.size === 0) this.#byAddress.delete(address);
    return oldest!;
  }

  #busiest(): string {
    let [found, most] = ['', 0];
    for (const [address, { size }] of this.#byAddress) if (size > most) [found, most] = [address, size];
    return found;
  }
}

/** Of clients whose schemes have no dot in them, as RFC 8252 (7.1) wants it. */
const CLIENT_SCHEMES = ['cursor:', 'vscode:', 'vscode-insiders:', 'vscodium:', 'windsurf:', 'claude:', 'zed:'];
const OF_AN_APP = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/**
 * To which places a client may ask to be sent back. A browser hands URLs of other schemes to the programs of the system: so only web pages, this
 * machine, and schemes that belong to an app are taken (RFC 8252), never the gateway itself. `issuer`: the URL of this authorization server.
 */
export function isRedirectAllowed(redirect: string, issuer: string): boolean {
  if (!URL.canParse(redirect)) return false;
  const { protocol, hostname, origin, username, password } = new URL(redirect);
  if (protocol !== 'https:' && protocol !== 'http:')
    return CLIENT_SCHEMES.includes(protocol) || OF_AN_APP.test(protocol);
  if (origin === new URL(issuer).origin || username !== '' || password !== '') return false;
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** Each visit is kept, so it is small. A redirect on this machine counts for every port, also for that of the gateway. */
export function checkVisit(method: string | undefined, query: string, issuer: string): void {
  const asked = new URLSearchParams(query);
  const isLong = [...asked.values()].some((value) => value.length > MAX_VISIT_PARAMETER_CHARS);
  if (method !== 'GET') throw new GatewayError('INVALID_REQUEST', { data: 'Open this page with GET' });
  if (isLong || query.length > MAX_VISIT_CHARS)
    throw new GatewayError('INVALID_REQUEST', { data: 'A parameter of this link is too long' });
  const redirect = asked.get('redirect_uri');
  if (redirect !== null && URL.canParse(redirect) && new URL(redirect).origin === new URL(issuer).origin)
    throw new GatewayError('INVALID_REQUEST', { data: 'redirect_uri is a page of this gateway' });
}
