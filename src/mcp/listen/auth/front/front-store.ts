// What the authorization server keeps: clients, sessions, grants, codes, refresh tokens, and its keys. With a folder it outlives the process: one
// sealed file for each record, readable by its owner alone, named by a hash. What can be used once is used once across processes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { open, readFile, readdir, rename, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../../kernel/containers/bounded-map.ts';
import { sha256, lazyCrypto } from '../../../../kernel/crypto/lazy-crypto.ts';
import { randomId } from '../../../../kernel/crypto/ids.ts';
import type { Sealer } from '../../../../kernel/crypto/seal.ts';
import { readIfThere } from '../../../../kernel/files/private-file.ts';

/** Keeps records under names. */
export interface FrontStore {
  read(name: string): Promise<KeptRecord | undefined>;
  write(name: string, record: KeptRecord): Promise<void>;
  remove(name: string): Promise<void>;
  /** True for the first one who asks. */
  take(name: string): Promise<boolean>;
}

export interface KeptRecord {
  /** Milliseconds since 1970; absent: for ever. */
  expires?: number | undefined;
  value: AdapterPayload;
}

/** For each pool; the longest unused ones are dropped. */
const MAX_RECORDS = 20_000;

/** `maxRecords`: of each pool; tests pass their own. */
export function createFrontStore(folder: string | undefined, sealer: Sealer, maxRecords = MAX_RECORDS): FrontStore {
  return folder === undefined ? new MemoryStore(maxRecords) : new FolderStore(folder, sealer, maxRecords);
}

/** Strangers can make clients and visits, but they push out nothing else: not what people have logged in for. */
type Pool = 'client' | 'visit' | 'login' | 'brief';

class MemoryStore implements FrontStore {
  readonly #pools: Record<Pool, BoundedMap<string, KeptRecord>>;
  readonly #taken = new BoundedMap<string, true>(MAX_RECORDS);

  constructor(maxRecords: number) {
    const pool = () => new BoundedMap<string, KeptRecord>(maxRecords);
    this.#pools = { client: pool(), visit: pool(), login: pool(), brief: pool() };
  }

  async read(name: string): Promise<KeptRecord | undefined> {
    return structuredClone(this.#pools[poolOf(name)].get(name));
  }

  async write(name: string, record: KeptRecord): Promise<void> {
    this.#pools[poolOf(name)].set(name, structuredClone(record));
  }

  async remove(name: string): Promise<void> {
    this.#pools[poolOf(name)].delete(name);
  }

  async take(name: string): Promise<boolean> {
    const isFirst = !this.#taken.peek(name);
    if (isFirst) this.#taken.set(name, true);
    return isFirst;
  }
}

const PURPOSE = 'front';
const FILE = /^(client|visit|login|brief)-[\w-]{43}\.record/;
const UNUSED_MS = 90 * 24 * 60 * 60_000;
const BRIEF_MS = 15 * 60_000;
const SWEEP_EVERY = 500;
const SWEEP_MS = 5 * 60_000;
/** The longest unused ones go first, so each use counts. */
const OF_CLIENTS = /^(?:Client|Agreed):/;

class FolderStore implements FrontStore {
  readonly #folder: string;
  readonly #sealer: Sealer;
  readonly #maxRecords: number;
  #writes = 0;
  #sweptAt = 0;

  constructor(folder: string, sealer: Sealer, maxRecords: number) {
    this.#maxRecords = maxRecords;
    this.#folder = folder;
    this.#sealer = sealer;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  async read(name: string): Promise<KeptRecord | undefined> {
    const path = this.#pathOf(name);
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const now = new Date();
    if (OF_CLIENTS.test(name)) await utimes(path, now, now).catch(() => undefined); // it may have been removed meanwhile
    return this.#sealer.open(PURPOSE, name, text) as KeptRecord | undefined;
  }

  async write(name: string, record: KeptRecord): Promise<void> {
    const path = this.#pathOf(name);
    const fresh = `${path}-${randomId()}`;
    try {
      await writeFile(fresh, this.#sealer.seal(PURPOSE, name, record), { mode: 0o600, flag: 'wx', flush: true });
      await rename(fresh, path);
    } finally {
      await rm(fresh, { force: true });
    }
    if (this.#writes++ % SWEEP_EVERY === 0 || Date.now() - this.#sweptAt > SWEEP_MS) await this.#sweep();
  }

  async remove(name: string): Promise<void> {
    await rm(this.#pathOf(name), { force: true });
  }

  async take(name: string): Promise<boolean> {
    try {
      await (await open(`${this.#pathOf(name)}.used`, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Removes what nothing has touched for longer than anything lives, then what is too much. */
  async #sweep(): Promise<void> {
    this.#sweptAt = Date.now();
    const names = (await readdir(this.#folder)).filter((name) => FILE.test(name));
    const found = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        const seen = await stat(path).catch(() => undefined);
        return { path, pool: FILE.exec(name)![1]!, at: seen?.mtimeMs ?? 0 };
      }),
    );
    const newest = found.toSorted((a, b) => b.at - a.at);
    const [limit, briefLimit] = [Date.now() - UNUSED_MS, Date.now() - BRIEF_MS];
    const counts: Record<string, number> = {};
    const dropped = newest.filter(({ at, pool }) => {
      counts[pool] = (counts[pool] ?? 0) + 1;
      return at < (pool === 'brief' ? briefLimit : limit) || counts[pool] > this.#maxRecords;
    });
    for (const { path } of dropped) await unlink(path).catch(() => undefined); // another process was faster
  }

  /** Names hold secrets, such as codes. */
  #pathOf(name: string): string {
    return join(this.#folder, `${poolOf(name)}-${sha256(name, 'base64url')}.record`);
  }
}

const OF_LOGINS = /^(?:Agreed|Account|Grant|RefreshToken|AuthorizationCode|AccessToken)(?::| of grant:)/;
/** These live for ten minutes. */
const BRIEF = /^(?:Interaction|Attempt):/;

function poolOf(name: string): Pool {
  if (name.startsWith('Client:')) return 'client';
  if (BRIEF.test(name)) return 'brief';
  return OF_LOGINS.test(name) ? 'login' : 'visit';
}

const MAX_MEMBERS = 1000;

/** The store as oidc-provider wants it, one for each kind of record. */
export class FrontAdapter implements Adapter {
  readonly #kind: string;
  readonly #store: FrontStore;
  readonly #clock: Clock;

  constructor(kind: string, store: FrontStore, clock: Clock) {
    this.#kind = kind;
    this.#store = store;
    this.#clock = clock;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const expires = expiresIn === undefined ? undefined : this.#clock.now() + expiresIn * 1000;
    await this.#store.write(this.#nameOf(id), { expires, value: payload });
    if (payload.uid !== undefined && this.#kind === 'Session')
      await this.#store.write(this.#nameOf(`uid ${payload.uid}`), { expires, value: { id } });
    if (this.#kind === 'Grant' && payload.clientId !== undefined) await this.#keepClient(payload.clientId);
    if (payload.grantId !== undefined && this.#kind !== 'Grant') await this.#join(payload.grantId, id, expires);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found =
      (await this.#store.read(this.#nameOf(id))) ??
      (this.#kind === 'Client' ? await this.#store.read(agreedNameOf(id)) : undefined);
    if (!found || (found.expires ?? Infinity) <= this.#clock.now()) return undefined;
    return found.value;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const found = await this.find(`uid ${uid}`);
    return found && this.find((found as { id?: string }).id ?? '');
  }

  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Throws for the second one who uses it: of two at the same moment, one is a thief. */
  async consume(id: string): Promise<void> {
    if (!(await this.#store.take(this.#nameOf(id)))) throw new Error('this was used before');
    const found = await this.#store.read(this.#nameOf(id));
    if (!found) return;
    found.value.consumed = Math.floor(this.#clock.now() / 1000);
    await this.#store.write(this.#nameOf(id), found);
  }

  async destroy(id: string): Promise<void> {
    await this.#store.remove(this.#nameOf(id));
    if (this.#kind === 'Client') await this.#store.remove(agreedNameOf(id));
  }

  /** Somebody has agreed to this client, so no stranger pushes it out. Those of the configuration are not kept here. */
  async #keepClient(id: string): Promise<void> {
    const found = await this.#store.read(`Client:${id}`);
    if (found) await this.#store.write(agreedNameOf(id), found);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const found = await this.#store.read(this.#membersOf(grantId));
    const { ids = [] } = (found?.value ?? {}) as { ids?: string[] };
    for (const id of ids) await this.destroy(id);
    await this.#store.remove(this.#membersOf(grantId));
  }

  async #join(grantId: string, id: string, expires: number | undefined): Promise<void> {
    const found = await this.#store.read(this.#membersOf(grantId));
    const { ids = [] } = (found?.value ?? {}) as { ids?: string[] };
    if (ids.includes(id)) return;
    const value = { ids: [...ids, id].slice(-MAX_MEMBERS) } as AdapterPayload;
    await this.#store.write(this.#membersOf(grantId), { expires, value });
  }

  #nameOf(id: string): string {
    return `${this.#kind}:${id}`;
  }

  #membersOf(grantId: string): string {
    return `${this.#kind} of grant:${grantId}`;
  }
}

function agreedNameOf(clientId: string): string {
  return `Agreed:${clientId}`;
}

/** What signs tokens and cookies, and what seals records. Made once, and kept in the folder. */
export interface FrontKeys {
  /** With its private part. */
  signing: JWK;
  cookies: string;
  records: string;
}

export async function freshFrontKeys(): Promise<FrontKeys> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const [kid, cookies, records] = [16, 32, 32].map((size) => lazyCrypto().randomBytes(size).toString('base64url'));
  return { signing: { ...jwk, kid: kid!, alg: 'ES256', use: 'sig' }, cookies: cookies!, records: records! };
}

export async function frontKeys(folder: string | undefined): Promise<FrontKeys> {
  if (folder === undefined) return freshFrontKeys();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'keys.json');
  const kept = readKeys(path);
  if (kept) return kept;
  try {
    writeFileSync(path, JSON.stringify(await freshFrontKeys()), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // else another process was faster
  }
  return readKeys(path)!;
}

function readKeys(path: string): FrontKeys | undefined {
  const text = readIfThere(path);
  return text === undefined ? undefined : (JSON.parse(text) as FrontKeys);
}

export function toPublic({ kty, crv, x, y, kid, alg, use }: JWK): JWK {
  return { kty, crv, x, y, kid, alg, use } as JWK;
}
