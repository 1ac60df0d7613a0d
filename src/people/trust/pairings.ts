// The browsers that the operator has paired with one gateway, and the codes by which further ones are paired.
// 1. A code works once, for a short time, for one gateway and, where users log in, for one user.
// 2. Codes are too long to be guessed (60 bits), so wrong ones void nothing: else anybody who reaches the page could prevent pairing. After
//    a few, further wrong ones are refused as too many for a minute. The right one always works.
// 3. Browsers send cookies to every port of a host. So the cookie is for a path that other ports do not know: only a browser that was paired, and the
//    links for people, have it.
// 4. Cookies and codes are remembered as hashes (pairing-store.ts).
import { join } from 'node:path';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { drawRandomBytes, randomId } from '../../kernel/crypto/ids.ts';
import { isSameSecret, sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import type { State } from '../../kernel/state/state.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import { cookiesNamed } from '../../kernel/net/browser-request.ts';
import { mayAnswer } from './may-answer.ts';
import { removeBrowser } from './pairing-store.ts';
import type { Invitation, PairedBrowser, PairingStore } from './pairing-store.ts';

interface PairingsOptions {
  /** What this gateway serves, as other commands name it. */
  gateway: string;
  store: PairingStore;
  clock: Clock;
  /** Counts wrong tries of gateways that share it. */
  state?: State | undefined;
  limits: Pick<Limits, 'pairCodeMs' | 'maxPairTries'>;
}

export interface PairingCode {
  readonly code: string;
  /** Wall-clock time in ms. */
  readonly expires: number;
}

type RedeemedCode = { cookie: string; browser: PairedBrowser } | 'wrong' | 'too-many';

const PAUSE_MS = 60_000;
const MAX_COOKIES = 10;
/** Without letters and digits that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE_LENGTH = 12;
const KINDS = ['firefox', 'edg', 'chrome', 'safari'];
const NAME = 'pairings.json';

export class Pairings {
  readonly #options: PairingsOptions;
  #wrong = 0;
  /** Monotonic time. */
  #countedUntil = 0;

  constructor(options: PairingsOptions) {
    this.#options = options;
  }

  /** The secret part of the path below which paired browsers send their cookie. */
  async path(): Promise<string> {
    const { gateway, store } = this.#options;
    const known = (await store.read()).paths?.[gateway];
    if (known !== undefined) return known;
    return store.update((latest) => {
      const other = latest.paths?.[gateway];
      if (other !== undefined) return { done: other };
      const path = randomId();
      return { next: { ...latest, paths: { ...latest.paths, [gateway]: path } }, done: path };
    });
  }

  /** The cookies of two gateways on one host have two names. */
  get cookieName(): string {
    return `parley-paired-${hashOf(this.#options.gateway).slice(7, 23)}`;
  }

  /** The browser that sent these cookies. */
  async find(cookies: string | undefined): Promise<PairedBrowser | undefined> {
    // Another port can add cookies of the same name, for other paths.
    const sent = cookiesNamed(this.cookieName, cookies).slice(0, MAX_COOKIES).map(hashOf);
    if (sent.length === 0) return undefined;
    const own = this.#ownOf((await this.#options.store.read()).browsers);
    return own.find(({ hash }) => sent.some((one) => isSameSecret(hash, one)));
  }

  /** Whether a browser may answer for this user, or at all where nobody logs in. */
  async hasAny(user: string | undefined): Promise<boolean> {
    return this.#ownOf((await this.#options.store.read()).browsers).some((browser) => mayAnswer(browser, user));
  }

  /** The browsers of this gateway, the first one first. */
  async list(): Promise<PairedBrowser[]> {
    return this.#ownOf((await this.#options.store.read()).browsers);
  }

  /** Takes one away. False if no entry has this name. */
  remove(name: string): Promise<boolean> {
    return removeBrowser(this.#options.store, (one) => one.name === name && one.gateway === this.#options.gateway);
  }

  async invite(user?: string): Promise<PairingCode> {
    const { gateway, store, clock, limits } = this.#options;
    const drawn = [...drawRandomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    const expires = clock.now() + limits.pairCodeMs;
    const one = { hash: hashOf(drawn), gateway, ...(user !== undefined && { user }), expires };
    await store.update((latest) => {
      const open = latest.invitations.filter((other) => this.#isOpen(other));
      return { next: { ...latest, invitations: [...open, one] }, done: undefined };
    });
    return { code: drawn.match(/.{4}/g)!.join('-'), expires };
  }

  /** Pairs the browser that sent the code. */
  async redeem(given: string, agent: string | undefined): Promise<RedeemedCode> {
    const code = hashOf(given.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''));
    const cookie = randomId();
    const browser = await this.#options.store.update((latest) => {
      const invitation = this.#ownOf(latest.invitations).find(
        (one) => this.#isOpen(one) && isSameSecret(one.hash, code),
      );
      if (!invitation) return { done: undefined };
      const made = this.#toBrowser(invitation, { cookie, agent });
      const invitations = latest.invitations.filter(({ hash }) => hash !== invitation.hash);
      return { next: { ...latest, browsers: [...latest.browsers, made], invitations }, done: made };
    });
    return browser ? { cookie, browser } : this.#countWrong();
  }

  #toBrowser(
    { gateway, user }: Invitation,
    { cookie, agent }: { cookie: string; agent: string | undefined },
  ): PairedBrowser {
    const created = new Date(this.#options.clock.now()).toISOString();
    return { name: toName(agent), hash: hashOf(cookie), gateway, ...(user !== undefined && { user }), created };
  }

  async #countWrong(): Promise<'wrong' | 'too-many'> {
    const { clock, limits, gateway, state } = this.#options;
    const now = ticksOf(clock);
    if (this.#countedUntil <= now) this.#wrong = 0;
    this.#countedUntil = now + PAUSE_MS;
    if (++this.#wrong >= limits.maxPairTries) return 'too-many';
    if (!state?.isShared) return 'wrong';
    const rate = { count: Math.max(1, limits.maxPairTries - 1), perMs: PAUSE_MS };
    // While the state does not answer, each gateway counts for itself.
    const drawn = await state.draw(`wrong pair codes ${gateway}`, rate, 1).catch(() => undefined);
    return drawn?.granted === 0 ? 'too-many' : 'wrong';
  }

  #isOpen({ expires }: Invitation): boolean {
    return expires > this.#options.clock.now();
  }

  #ownOf<R extends { gateway: string }>(all: readonly R[]): R[] {
    return all.filter(({ gateway }) => gateway === this.#options.gateway);
  }
}

/** Short, so that it can be typed, and never what the browser claims to be beyond a known word. */
function toName(agent = ''): string {
  const kind = KINDS.find((word) => agent.toLowerCase().includes(word)) ?? 'browser';
  const apart = [...drawRandomBytes(4)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${kind === 'edg' ? 'edge' : kind}-${apart.toLowerCase()}`;
}

export function pairingFileIn(stateFolder: string): string {
  return join(stateFolder, NAME);
}

function hashOf(secret: string): string {
  return `sha256:${sha256(secret, 'hex')}`;
}
