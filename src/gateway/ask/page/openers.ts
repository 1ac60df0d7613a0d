// Which browser opened which round. The first one gets a cookie, and nobody else gets in. Here in memory: kept until the round would
// have expired, so that its own browser can still be told what became of it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { ticksOf } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { Answer, Round } from '../round.ts';

export interface Openers {
  /** The content of the browser's cookie; undefined when another one was first. */
  bind(round: Round): string | undefined | Promise<string | undefined>;
  /** Whether a browser is known to have opened it. */
  isBound(handle: string): boolean;
  /** The secret of the browser that opened this round, if these are its cookies. */
  browserOf(handle: string, cookies: string | undefined): string | undefined;
  /** It was answered there; with the new content of its cookie, where that is what remembers. */
  settle(handle: string, browser: string, outcome: Answer['action']): string | undefined;
  outcomeOf(handle: string, cookies: string | undefined): Answer['action'] | undefined;
}

interface Opener {
  readonly browser: string;
  readonly round: Round;
  /** By a clock that never jumps. */
  readonly keptUntil: number;
  outcome?: Answer['action'];
}

export class RememberedOpeners implements Openers {
  readonly #clock: Clock;
  readonly #openers = new Map<string, Opener>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  bind(round: Round): string | undefined {
    const { handle, expiresAt } = round;
    this.#forget();
    if (this.#openers.has(handle)) return undefined;
    const browser = randomId();
    const keptUntil = ticksOf(this.#clock) + expiresAt - this.#clock.now();
    this.#openers.set(handle, { browser, round, keptUntil });
    return browser;
  }

  isBound(handle: string): boolean {
    return this.#openers.has(handle);
  }

  browserOf(handle: string, cookies: string | undefined): string | undefined {
    const opener = this.#openers.get(handle);
    const sent = opener && readCookie(cookies, cookieName(handle));
    return opener && sent !== undefined && isSame(sent, opener.browser) ? opener.browser : undefined;
  }

  settle(handle: string, _browser: string, outcome: Answer['action']): undefined {
    const opener = this.#openers.get(handle);
    if (opener) opener.outcome = outcome;
  }

  outcomeOf(handle: string): Answer['action'] | undefined {
    return this.#openers.get(handle)?.outcome;
  }

  /** Rounds are few, and each is here once: going through all of them costs nothing. */
  #forget(): void {
    const now = ticksOf(this.#clock);
    for (const [handle, { round, keptUntil }] of this.#openers)
      if (!round.isOpen && keptUntil <= now) this.#openers.delete(handle);
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
