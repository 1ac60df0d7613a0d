// Remembers which browser owns which round: the first one gets a cookie, and no other gets in. Kept in memory until the
// round would have expired, so that the browser can still see the outcome.
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { isSameSecret, sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { cookiesNamed } from '../../kernel/net/browser-request.ts';
import type { RoundAnswer, QuestionRound } from '../question-round.ts';

export interface PageOwners {
  /** The content of the browser's cookie; undefined if another browser was first. */
  bind(round: QuestionRound): string | undefined | Promise<string | undefined>;
  /** Whether a browser owns the round. */
  isBound(handle: string): boolean;
  /** The owning browser's secret, if these are its cookies. */
  browserOf(handle: string, cookies: string | undefined): string | undefined;
  /** The owner has answered. Returns the new cookie content, if the cookie is what remembers the outcome. */
  settle(handle: string, browser: string, outcome: RoundAnswer['action']): string | undefined;
  outcomeOf(handle: string, cookies: string | undefined): RoundAnswer['action'] | undefined;
}

interface PageOwner {
  readonly browser: string;
  readonly round: QuestionRound;
  /** Monotonic time. */
  readonly keptUntil: number;
  outcome?: RoundAnswer['action'];
}

export class MemoryPageOwners implements PageOwners {
  readonly #clock: Clock;
  readonly #owners = new Map<string, PageOwner>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  bind(round: QuestionRound): string | undefined {
    const { handle, expiresAt } = round;
    this.#forget();
    if (this.#owners.has(handle)) return undefined;
    const browser = randomId();
    const keptUntil = ticksOf(this.#clock) + expiresAt - this.#clock.now();
    this.#owners.set(handle, { browser, round, keptUntil });
    return browser;
  }

  isBound(handle: string): boolean {
    return this.#owners.has(handle);
  }

  browserOf(handle: string, cookies: string | undefined): string | undefined {
    const owner = this.#owners.get(handle);
    const [sent] = cookiesNamed(cookieName(handle), cookies);
    return owner && sent !== undefined && isSameSecret(sent, owner.browser) ? owner.browser : undefined;
  }

  settle(handle: string, _browser: string, outcome: RoundAnswer['action']): undefined {
    const owner = this.#owners.get(handle);
    if (owner) owner.outcome = outcome;
  }

  outcomeOf(handle: string): RoundAnswer['action'] | undefined {
    return this.#owners.get(handle)?.outcome;
  }

  /** A linear search is fine, because rounds are few. */
  #forget(): void {
    const now = ticksOf(this.#clock);
    for (const [handle, { round, keptUntil }] of this.#owners)
      if (!round.isOpen && keptUntil <= now) this.#owners.delete(handle);
  }
}

/** One cookie per round, because one browser may have several open. */
export function cookieName(handle: string): string {
  return `parley-ask-${sha256(handle, 'hex').slice(0, 16)}`;
}
