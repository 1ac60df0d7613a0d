// Which browser opened which round. The first one gets a cookie, and nobody else gets in. Here in memory: kept until the round would
// have expired, so that its own browser can still be told what became of it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { ticksOf } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { RoundAnswer, QuestionRound } from '../question-round.ts';

export interface PageOwners {
  /** The content of the browser's cookie; undefined when another one was first. */
  bind(round: QuestionRound): string | undefined | Promise<string | undefined>;
  /** Whether a browser is known to have opened it. */
  isBound(handle: string): boolean;
  /** The secret of the browser that opened this round, if these are its cookies. */
  browserOf(handle: string, cookies: string | undefined): string | undefined;
  /** It was answered there; with the new content of its cookie, where that is what remembers. */
  settle(handle: string, browser: string, outcome: RoundAnswer['action']): string | undefined;
  outcomeOf(handle: string, cookies: string | undefined): RoundAnswer['action'] | undefined;
}

interface PageOwner {
  readonly browser: string;
  readonly round: QuestionRound;
  /** By a clock that never jumps. */
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
    const sent = owner && readCookie(cookies, cookieName(handle));
    return owner && sent !== undefined && isSame(sent, owner.browser) ? owner.browser : undefined;
  }

  settle(handle: string, _browser: string, outcome: RoundAnswer['action']): undefined {
    const owner = this.#owners.get(handle);
    if (owner) owner.outcome = outcome;
  }

  outcomeOf(handle: string): RoundAnswer['action'] | undefined {
    return this.#owners.get(handle)?.outcome;
  }

  /** Rounds are few, and each is here once: going through all of them costs nothing. */
  #forget(): void {
    const now = ticksOf(this.#clock);
    for (const [handle, { round, keptUntil }] of this.#owners)
      if (!round.isOpen && keptUntil <= now) this.#owners.delete(handle);
  }
}

/** One for each round: two questions may be open in one browser. */
export function cookieName(handle: string): string {
  return `parley-ask-${createHash('sha256').update(handle).digest('hex').slice(0, 16)}`;
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  const pair = header?.split(';').find((one) => one.trim().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
