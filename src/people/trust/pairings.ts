// The browsers that the operator has paired with one gateway, and the codes by which further ones are paired.
// 1. A code works once, for a short time, for one gateway and, where users log in, for one user.
// 2. Codes are too long to be guessed (60 bits), so wrong ones void nothing: else anybody who reaches the page could prevent pairing. After
//    a few, further wrong ones are refused as too many for a minute. The right one always works.
// 3. Browsers send cookies to every port of a host. So the cookie is for a path that other ports do not know: only a browser that was paired, and the
//    links for people, have it.
// 4. Cookies and codes are kept as hashes, in memory or in a file of the operator, which only its owner can read.
import { join } from 'node:path';
import { isObject } from '../../kernel/message.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { drawRandomBytes, randomId } from '../../kernel/crypto/ids.ts';
import { isSameSecret, sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { readIfThere, writePrivateFile } from '../../kernel/files/private-file.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import { cookiesNamed } from '../../kernel/net/browser-request.ts';
import { mayAnswer } from './may-answer.ts';

interface Kept {
  readonly hash: string;
  /** What the gateway serves: a configuration file or a wrapped command. */
  readonly gateway: string;
  /** Whose questions it may answer, where users log in. */
  readonly user?: string | undefined;
}

interface PairedBrowser extends Kept {
  readonly name: string;
  /** ISO 8601. */
  readonly created: string;
}

interface Invitation extends Kept {
  /** Wall-clock time in ms. */
  readonly expires: number;
}

export interface PairingRecords {
  readonly browsers: readonly PairedBrowser[];
  readonly invitations: readonly Invitation[];
  /** The secret part of the path of the page, for each gateway. */
  readonly paths?: Readonly<Record<string, string>> | undefined;
}

interface PairingsOptions {
  /** What this gateway serves, as other commands name it. */
  gateway: string;
  /** Absent: kept in memory. */
  file?: string | undefined;
  clock: Clock;
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
const NOTHING: PairingRecords = { browsers: [], invitations: [] };

export class Pairings {
  readonly #options: PairingsOptions;
  #kept: PairingRecords = { browsers: [], invitations: [] };
  #wrong = 0;
  /** Monotonic time. */
  #countedUntil = 0;

  constructor(options: PairingsOptions) {
    this.#options = options;
  }

  /** The secret part of the path below which paired browsers send their cookie. */
  get path(): string {
    const { gateway } = this.#options;
    const kept = this.#read();
    const known = kept.paths?.[gateway];
    if (known !== undefined) return known;
    const path = randomId();
    this.#write({ ...kept, paths: { ...kept.paths, [gateway]: path } });
    return path;
  }

  /** The cookies of two gateways on one host have two names. */
  get cookieName(): string {
    return `parley-paired-${hashOf(this.#options.gateway).slice(7, 23)}`;
  }

  /** The browser that sent these cookies. */
  find(cookies: string | undefined): PairedBrowser | undefined {
    // Another port can add cookies of the same name, for other paths.
    const sent = cookiesNamed(this.cookieName, cookies).slice(0, MAX_COOKIES).map(hashOf);
    if (sent.length === 0) return undefined;
    return this.#own('browsers').find(({ hash }) => sent.some((one) => isSameSecret(hash, one)));
  }

  /** Whether a browser may answer for this user, or at all where nobody logs in. */
  hasAny(user: string | undefined): boolean {
    return this.#own('browsers').some((browser) => mayAnswer(browser, user));
  }

  invite(user?: string): PairingCode {
    const { gateway, clock, limits } = this.#options;
    const drawn = [...drawRandomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    const expires = clock.now() + limits.pairCodeMs;
    const one = { hash: hashOf(drawn), gateway, ...(user !== undefined && { user }), expires };
    const kept = this.#read();
    this.#write({ ...kept, invitations: [...kept.invitations.filter((other) => this.#isOpen(other)), one] });
    return { code: drawn.match(/.{4}/g)!.join('-'), expires };
  }

  /** Pairs the browser that sent the code. */
  redeem(given: string, agent: string | undefined): RedeemedCode {
    const code = hashOf(given.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''));
    const invitation = this.#own('invitations').find((one) => this.#isOpen(one) && isSameSecret(one.hash, code));
    if (!invitation) return this.#countWrong();
    const cookie = randomId();
    const { gateway, user } = invitation;
    const created = new Date(this.#options.clock.now()).toISOString();
    const browser = {
      name: toName(agent),
      hash: hashOf(cookie),
      gateway,
      ...(user !== undefined && { user }),
      created,
    };
    const kept = this.#read();
    this.#write({
      ...kept,
      browsers: [...kept.browsers, browser],
      invitations: kept.invitations.filter(({ hash }) => hash !== invitation.hash),
    });
    return { cookie, browser };
  }

  #countWrong(): 'wrong' | 'too-many' {
    const { clock, limits } = this.#options;
    const now = ticksOf(clock);
    if (this.#countedUntil <= now) this.#wrong = 0;
    this.#countedUntil = now + PAUSE_MS;
    return ++this.#wrong < limits.maxPairTries ? 'wrong' : 'too-many';
  }

  #isOpen({ expires }: Invitation): boolean {
    return expires > this.#options.clock.now();
  }

  #own<K extends 'browsers' | 'invitations'>(kind: K): PairingRecords[K][number][] {
    const all: readonly PairingRecords[K][number][] = this.#read()[kind];
    return all.filter(({ gateway }) => gateway === this.#options.gateway);
  }

  #read(): PairingRecords {
    const { file } = this.#options;
    return file === undefined ? this.#kept : readPairingFile(file);
  }

  #write(records: PairingRecords): void {
    const { file } = this.#options;
    if (file === undefined) this.#kept = records;
    else writePairingFile(file, records);
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

/** Nothing if there is no file. Throws if it cannot be understood, so that it is never overwritten. */
export function readPairingFile(path: string): PairingRecords {
  const text = readIfThere(path);
  if (text === undefined) return NOTHING;
  const { browsers, invitations, paths } = JSON.parse(text) as Partial<Record<keyof PairingRecords, unknown>>;
  if (!isList(browsers, 'name') || !isList(invitations, 'expires')) {
    throw new GatewayError('BAD_OPTION', { option: 'stateFolder', reason: `${path} is not a file of \`parley pair\`` });
  }
  return { browsers, invitations, ...(isObject(paths) && { paths }) } as unknown as PairingRecords;
}

export function writePairingFile(path: string, records: PairingRecords): void {
  writePrivateFile(path, `${JSON.stringify(records, null, 2)}\n`);
}

function isList(value: unknown, field: string): value is object[] {
  const isKept = (one: unknown): boolean =>
    isObject(one) && typeof one.hash === 'string' && typeof one.gateway === 'string' && field in one;
  return Array.isArray(value) && value.every(isKept);
}
