// The API keys of a gateway, from its options, and from a file, or a state that gateways share, which `parley key` changes while it runs. Keys are kept as hashes. The file
// is looked at with every request, so a removed key is refused from the next one on, and once a second while streams are open, to end those
// that a removed key has opened.
import { join } from 'node:path';
import type { Identity, Validity } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { lazyCrypto, sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { MIN_KEY_LENGTH } from '../../../kernel/crypto/state-keys.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { State } from '../../../kernel/state/state.ts';
import { fileStamp } from '../../../kernel/files/file-stamp.ts';
import { readIfThere, writePrivateFile } from '../../../kernel/files/private-file.ts';
import type { ApiKeyOptions } from './auth-options.ts';
import { WatchList } from './watch-list.ts';

interface ApiKeysOptions {
  keys?: readonly ApiKeyOptions[] | undefined;
  keyFile?: string | undefined;
  /** Where the keys are that gateways share. */
  state?: State | undefined;
  clock: Clock;
  log: Log;
}

/** A key as people see it: never the key, and not its hash. */
export interface ListedKey {
  readonly name: string;
  readonly principal: string;
  /** Undefined: all but the one of operators. */
  readonly scopes: readonly string[] | undefined;
  readonly groups: readonly string[];
  /** Milliseconds since 1970; `Infinity`: never. */
  readonly expires: number;
  /** Since the gateway runs. */
  readonly lastUsed: number | undefined;
}

interface KeyEntry {
  digest: Buffer;
  /** Milliseconds since 1970. */
  expires: number;
  /** When it has let somebody in. */
  lastUsed?: number;
  identity: Identity;
}

const POLL_MS = 1000;
const MAX_PROVEN = 1000;

export class ApiKeys {
  readonly #options: ApiKeysOptions;
  readonly #own: readonly KeyEntry[];
  /** By the start of the hash, which says nothing about the key. */
  #entries = new Map<string, KeyEntry>();
  /** By the keys themselves: those that were good since the entries have changed. A hash for every request would cost more than all else here. */
  readonly #proven = new BoundedMap<string, KeyEntry>(MAX_PROVEN);
  #seen: string | undefined;
  #ofFile: readonly KeyEntry[] = [];
  #ofState: readonly KeyEntry[] = [];
  #endWatch: (() => void) | undefined;
  readonly #watched: WatchList<KeyEntry>;
  #stopPoll: (() => void) | undefined;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
    this.#watched = new WatchList(options.clock);
    this.#own = (options.keys ?? []).map((key) => this.#toEntry(toKept(key)));
    this.#set();
    this.#refresh();
  }

  /** Reads the keys that gateways share, and again whenever they change. Without them, they are not accepted. */
  async open(): Promise<void> {
    const { state } = this.#options;
    if (!state?.isShared || this.#endWatch) return;
    this.#endWatch = state.watch(SHARED_KEYS, () => void this.#read(state));
    await this.#read(state);
  }

  /** Until the state answers again, the keys count that were read last. */
  async #read(state: State): Promise<void> {
    try {
      const kept = await readSharedKeys(state);
      this.#ofState = kept.map((key) => this.#toEntry(key));
      this.#set();
      this.#endRemoved();
    } catch (error) {
      this.#options.log.error({ error }, 'keys.unreadable');
    }
  }

  get isEmpty(): boolean {
    this.#refresh();
    return this.#entries.size === 0;
  }

  /** Undefined for an unknown, removed or expired key. */
  find(presented: string): Identity | undefined {
    this.#refresh();
    const entry = this.#proven.peek(presented) ?? this.#prove(presented);
    const now = this.#options.clock.now();
    if (!entry || entry.expires <= now) return undefined;
    entry.lastUsed = now;
    return entry.identity;
  }

  /** By name. */
  get list(): ListedKey[] {
    this.#refresh();
    const listed = [...this.#entries.values()].map(({ identity, expires, lastUsed }) => {
      const { principal, key: name = '', scopes, groups = [] } = identity;
      return { name, principal, scopes, groups, expires, lastUsed };
    });
    return listed.toSorted((one, other) => one.name.localeCompare(other.name));
  }

  #prove(presented: string): KeyEntry | undefined {
    const digest = lazyCrypto().createHash('sha256').update(presented).digest();
    const entry = this.#entries.get(slotOf(digest));
    // The slot is found by a hash; the comparison of the rest takes the same time for every wrong key.
    if (!entry || !lazyCrypto().timingSafeEqual(entry.digest, digest)) return undefined;
    this.#proven.set(presented, entry);
    return entry;
  }

  close(): void {
    this.#endWatch?.();
    this.#stopPoll?.();
    this.#watched.clear();
  }

  /** Others take its place: what was opened by a key that they have, unchanged, goes on; all else ends. */
  handOver(next: ApiKeys | undefined): void {
    for (const { digest, lastUsed } of this.#entries.values()) {
      const same = next && lastUsed !== undefined ? next.#entries.get(slotOf(digest)) : undefined;
      if (same) same.lastUsed ??= lastUsed!;
    }
    this.#watched.handOver(next && next.#watched, (entry) => next!.#entryLike(entry));
    if (next) next.#watch();
    this.close();
  }

  #entryLike(entry: KeyEntry): KeyEntry | undefined {
    this.#refresh();
    const found = this.#entries.get(slotOf(entry.digest));
    return isSame(found, entry) ? found : undefined;
  }

  #refresh(): void {
    const { keyFile, log } = this.#options;
    if (keyFile === undefined) return;
    const seen = fileStamp(keyFile);
    if (seen === this.#seen) return;
    try {
      this.#ofFile = readKeyFile(keyFile).map((key) => this.#toEntry(key));
    } catch (error) {
      log.error({ error, path: keyFile }, 'keys.unreadable'); // the keys of the file are out of use until it can be read
      this.#ofFile = [];
    }
    this.#set();
    this.#seen = seen;
  }

  #set(): void {
    const all = [...this.#ofFile, ...this.#ofState, ...this.#own].slice(0, MAX_KEYS);
    const known = this.#entries;
    this.#proven.clear();
    this.#entries = new Map(
      all.map((entry) => {
        const slot = slotOf(entry.digest);
        return [slot, isSame(known.get(slot), entry) ? known.get(slot)! : entry];
      }),
    );
  }

  #toEntry({ name, hash, user = name, scopes, groups, expires }: KeptKey): KeyEntry {
    const entry: KeyEntry = {
      digest: Buffer.from(hash.slice('sha256:'.length), 'hex'),
      expires: expires === undefined ? Infinity : Date.parse(expires),
      identity: {
        principal: `key:${user}`,
        key: name,
        ...(scopes && { scopes }),
        ...(groups && { groups }),
        validity: this.#validityOf(() => entry),
      },
    };
    return entry;
  }

  #validityOf(entry: () => KeyEntry): Validity {
    return {
      watch: (end) => {
        const forget = this.#watched.add(entry(), end);
        this.#watch();
        return forget;
      },
    };
  }

  #watch(): void {
    if (!this.#watched.isEmpty) this.#stopPoll ??= this.#poll();
  }

  #poll(): () => void {
    return this.#options.clock.after(POLL_MS, () => {
      this.#refresh();
      this.#endRemoved();
      this.#stopPoll = undefined;
      this.#watch();
    });
  }

  /** Ends what a key has opened that is there no more. */
  #endRemoved(): void {
    const now = this.#options.clock.now();
    this.#watched.endWhere((entry) => this.#entries.get(slotOf(entry.digest)) !== entry || entry.expires <= now);
  }
}

function toKept({ key, hash, ...rest }: ApiKeyOptions): KeptKey {
  const option = `auth.keys, ${JSON.stringify(rest.name)}`;
  if (typeof rest.name !== 'string' || rest.name === '') throw bad('auth.keys', 'each key needs a name');
  if ((key === undefined) === (hash === undefined)) throw bad(option, 'give either "key" or "hash"');
  if (key !== undefined && key.length < MIN_KEY_LENGTH)
    throw bad(option, `a key needs at least ${MIN_KEY_LENGTH} characters; \`parley key add\` makes one`);
  if (hash !== undefined && !HASH.test(hash)) throw bad(option, 'a hash is "sha256:" and 64 hexadecimal digits');
  if (rest.expires !== undefined && Number.isNaN(Date.parse(rest.expires)))
    throw bad(option, '"expires" is not a date; write it like 2027-06-30');
  return { ...rest, hash: hash ?? hashKey(key!) };
}

function bad(option: string, reason: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option, reason });
}

function slotOf(digest: Buffer): string {
  return digest.toString('base64', 0, 12);
}

/** An unchanged key keeps its entry, and with it its open streams. */
function isSame(one: KeyEntry | undefined, other: KeyEntry): boolean {
  return one !== undefined && describe(one) === describe(other);
}

function describe({ digest, expires, identity }: KeyEntry): string {
  return JSON.stringify([digest.toString('base64'), expires, identity]);
}

/** A key as the file has it. */
export interface KeptKey extends Omit<ApiKeyOptions, 'key'> {
  hash: string;
  /** ISO 8601. */
  created?: string | undefined;
}

const MAX_KEYS = 10_000;
const SHARED_KEYS = 'api-keys';
/** Lets people and scanners recognise a key. */
export const KEY_PREFIX = 'parley_';
const HASH = /^sha256:[0-9a-f]{64}$/;

/** The file with the API keys of this user: names, hashes, scopes. It holds no key itself, and only its owner can read it. */
export function keyFileIn(stateFolder: string): string {
  return join(stateFolder, 'api-keys.json');
}

export function hashKey(key: string): string {
  return `sha256:${sha256(key, 'hex')}`;
}

/** Empty if there is no file. Throws if it cannot be understood, so that `parley key` never overwrites it. */
export function readKeyFile(path: string): KeptKey[] {
  const text = readIfThere(path);
  if (text === undefined) return [];
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (Array.isArray(keys) && keys.every(isKept)) return keys;
  throw bad('auth.keyFile', `${path} is not a file of \`parley key\``);
}

function isKept(value: unknown): value is KeptKey {
  if (!isObject(value)) return false;
  const { name, hash, expires } = value;
  const isDated = expires === undefined || (typeof expires === 'string' && !Number.isNaN(Date.parse(expires)));
  return typeof name === 'string' && typeof hash === 'string' && HASH.test(hash) && isDated;
}

export function writeKeyFile(path: string, keys: readonly KeptKey[]): void {
  writePrivateFile(path, `${JSON.stringify({ keys }, null, 2)}\n`);
}

/** The keys that gateways share, by name. */
export async function readSharedKeys(state: State): Promise<KeptKey[]> {
  const rows = [...(await state.list(SHARED_KEYS)).values()];
  return rows.map(({ value }) => JSON.parse(value) as unknown).filter(isKept);
}

/** False if there is one of this name. */
export async function addSharedKey(state: State, key: KeptKey): Promise<boolean> {
  return (await state.put(SHARED_KEYS, key.name, JSON.stringify(key), { version: 0 })) !== undefined;
}

export function removeSharedKey(state: State, name: string): Promise<boolean> {
  return state.remove(SHARED_KEYS, name);
}
