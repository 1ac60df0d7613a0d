// What the login of a gateway remembers whichever `auth` it goes by: a change of `auth` neither revives a login that has ended nor forgets failed tries.
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { LOGIN_TRIES, MAX_LOGGED_OUT } from '../../../kernel/base/limits.ts';
import { readRate } from '../../../kernel/base/rate.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { FailedTries } from '../../../kernel/state/failed-tries.ts';
import type { State } from '../../../kernel/state/state.ts';

export class LoginMemory {
  /** By network. */
  readonly badTokens: FailedTries;
  readonly pageLogins: FailedTries;
  readonly endedCookies: EndedCookies;

  constructor({ clock, state }: { clock: Clock; state?: State | undefined }) {
    const tries = (name: string) => new FailedTries({ rate: readRate(LOGIN_TRIES)!, name, clock, state });
    this.badTokens = tries('bad tokens');
    this.pageLogins = tries('logins at pages');
    this.endedCookies = new EndedCookies(state);
  }
}

const ENDED = 'logged-out';

/** Cookies that count no more, here or at all gateways that share a state. If that cannot be known, it rejects. */
class EndedCookies {
  readonly #state: State | undefined;
  readonly #own = new BoundedMap<string, true>(MAX_LOGGED_OUT);

  constructor(state: State | undefined) {
    this.#state = state?.isShared ? state : undefined;
  }

  async has(cookie: string): Promise<boolean> {
    if (this.#own.peek(cookie)) return true;
    return this.#state !== undefined && (await this.#state.get(ENDED, sha256(cookie, 'hex'))) !== undefined;
  }

  /** `ttlMs`: how long the cookie would have counted. */
  async add(cookie: string, ttlMs: number): Promise<void> {
    this.#own.set(cookie, true);
    await this.#state?.put(ENDED, sha256(cookie, 'hex'), '', { version: 0, ttlMs });
  }
}
