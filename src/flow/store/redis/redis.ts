// A store in Redis, shared by processes on any number of machines. Every operation is one atomic script. After a crash, what the server's
// append-only file holds survives (see docs/flow-stores.md). Leases use the server's time, so that clocks of machines may differ.
import { randomBytes } from 'node:crypto';
import { createCounter } from '../../../kernel/crypto/ids.ts';
import { isEnded, networkOfShare } from '../../header.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { TOMBSTONE_MS } from '../store.ts';
import type {
  CommitResult,
  CreateResult,
  FlowStore,
  ListedSession,
  SessionChange,
  SessionLimits,
  StoredSession,
} from '../store.ts';
import { connectRedis } from '../../../kernel/state/redis-connection.ts';
import type { RedisConnection, ScriptArgument, RedisPlace } from '../../../kernel/state/redis-connection.ts';
import { readEntriesText, readHeaderText, readRows } from '../read-row.ts';
import * as scripts from './redis-scripts.ts';

export interface RedisStoreOptions extends RedisPlace {
  /** Prefix of every key; stores with different prefixes share nothing. Default: `parley:flow`. */
  prefix?: string | undefined;
  /** How many ended sessions are remembered; the oldest are removed first. */
  maxTombstones?: number | undefined;
}

const MAX_TOMBSTONES = 10_000;
const PAGE = 200;
/** Digits of the creation time, between principal and id. */
const TIME_DIGITS = 16;
const JSON_STRING = /^"(?:[^"\\]|\\.)*"/s;

/**
 * Keeps sessions in Redis, for servers on several machines.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 * import { createRedisStore, flow, serveFlows } from 'mcp-parley/flow';
 *
 * const trip = flow({ name: 'trip' }, async (ask) => `Booked: ${await ask.text('city')}`);
 * const server = createServer({ name: 'trips', version: '1.0.0' });
 * serveFlows(server, [trip], { store: await createRedisStore({ url: 'redis://localhost:6379' }) });
 * ```
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<FlowStore> {
  const connection = await connectRedis(options);
  const keys = createRedisKeys(options.prefix ?? 'parley:flow');
  const salt = String(await connection.run(scripts.SALT, [keys.salt], [randomBytes(8).toString('hex')]));
  return new RedisStore(connection, keys, salt, options.maxTombstones ?? MAX_TOMBSTONES);
}

class RedisStore implements FlowStore {
  readonly durable = true;
  readonly salt: string;
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #maxTombstones: number;
  readonly #mark = createCounter(`${randomBytes(9).toString('base64url')}.`);

  constructor(connection: RedisConnection, keys: RedisKeys, salt: string, maxTombstones: number) {
    this.#connection = connection;
    this.#keys = keys;
    this.salt = salt;
    this.#maxTombstones = maxTombstones;
  }

  async create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult> {
    const { current, ...rest } = header;
    const [principal, created] = [JSON.stringify(header.share ?? header.principal), JSON.stringify(header.createdAt)];
    const { total, perPrincipal, perNetwork, dueAt = header.expiresAt } = limits;
    const network = perNetwork === undefined ? undefined : networkOfShare(header);
    const ofNetwork = network === undefined ? ['', ''] : [JSON.stringify(network).slice(0, -1), perNetwork!];
    const texts = [JSON.stringify(entries), JSON.stringify(current)];
    const values = [header.id, this.#mark(), total, perPrincipal, principal, created, ...ofNetwork, dueAt, ...texts];
    const fields = toHashFields(rest).set;
    const keys = this.#keys.session(header.id).slice(0, 5);
    return (await this.#connection.change(scripts.CREATE, keys, [...values, ...fields])) as CreateResult;
  }

  async load(id: string): Promise<StoredSession | undefined> {
    const found = await this.#connection.run(scripts.LOAD, this.#keys.session(id).slice(0, 3));
    if (!found) return undefined;
    const [fields, current, lists] = found as [string[], string | null, string[]];
    const entries = readEntriesText(`[${lists.join(',')}]`, id);
    return { header: parseHeader(fields, current), entries };
  }

  async commit(id: string, expectRev: number, change: SessionChange): Promise<CommitResult> {
    const values = [id, this.#mark(), expectRev, ...toCommit(change, this.#maxTombstones)];
    const answer = await this.#connection.change(scripts.COMMIT, this.#keys.session(id), values);
    const [rev, ...rest] = answer as [number | null, ...unknown[]];
    if (rev === null) {
      const [fields, current] = rest as [string[]?, string?];
      return { ok: false, header: fields && parseHeader(fields, current ?? null) };
    }
    if (rest.length > 0) await this.#connection.forget((rest as string[]).map((old) => this.#keys.session(old)[0]!));
    return { ok: true, rev };
  }

  async lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined> {
    const fence = (await this.#changeOne(scripts.LEASE, id, [owner, ms])) as number | null;
    return fence === null ? undefined : { fence };
  }

  async release(id: string, owner: string): Promise<void> {
    await this.#changeOne(scripts.RELEASE, id, [owner]);
  }

  /** Reads in pages, so it is not a snapshot. */
  due(now: number, max: number): Promise<string[]> {
    return this.#connection.read(async (client) => {
      const due: string[] = [];
      for (let at = 0; ; at += PAGE) {
        const page = await client.zrangebyscore(this.#keys.due, '-inf', now, 'LIMIT', at, PAGE);
        const until = await Promise.all(page.map((id) => client.hget(this.#keys.session(id)[0]!, ':u')));
        due.push(...page.filter((_, index) => Number(until[index] ?? 0) <= now));
        if (page.length < PAGE || due.length >= max) return due.slice(0, max);
      }
    });
  }

  async spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    return (await this.#connection.change(scripts.SPEND, [this.#keys.turn(id, rev)], [this.#mark(), ttlMs])) === 1;
  }

  async putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    await this.#connection.change(scripts.PUT_BLOB, [this.#keys.blob(sha256)], [bytes, ttlMs]);
  }

  async getBlob(sha256: string): Promise<Uint8Array | undefined> {
    return (await this.#connection.read((client) => client.getBuffer(this.#keys.blob(sha256)))) ?? undefined;
  }

  async list(principal: string): Promise<Header[]> {
    const mine = JSON.stringify(principal);
    // In ASCII the colon follows the digits.
    const members = await this.#connection.read((client) =>
      client.zrangebylex(this.#keys.open, `[${mine}`, `(${mine}:`),
    );
    const found = await Promise.all(
      members.map(async (member) => {
        const [session, , current] = this.#keys.session(member.slice(mine.length + TIME_DIGITS));
        return (await this.#connection.run(scripts.HEADER, [session!, current!])) as [string[], string | null] | null;
      }),
    );
    const headers = readRows(found, (one) => (one ? parseHeader(...one) : undefined));
    return headers.filter((header): header is Header => header !== undefined && !isEnded(header));
  }

  /** Open sessions first, by principal, then ended ones. A session that ends meanwhile may appear twice. */
  async *browse(id?: string): AsyncGenerator<ListedSession[]> {
    if (id !== undefined) return yield this.#listed([id]);
    for (let after = '-'; ;) {
      const from = after;
      const members = await this.#connection.read((client) =>
        client.zrangebylex(this.#keys.open, from, '+', 'LIMIT', 0, PAGE),
      );
      yield this.#listed(members.map(idIn));
      if (members.length < PAGE) break;
      after = `(${members.at(-1)!}`;
    }
    for (let cursor = '0'; ;) {
      const from = cursor;
      const [next, found] = await this.#connection.read((client) =>
        client.zscan(this.#keys.ended, from, 'COUNT', PAGE),
      );
      yield this.#listed(found.filter((_, index) => index % 2 === 0)); // every second item is a score
      if (next === '0') return;
      cursor = next;
    }
  }

  async forgetOutcome(id: string): Promise<void> {
    await this.#changeOne(scripts.FORGET_OUTCOME, id);
  }

  async drop(id: string): Promise<void> {
    await this.#connection.change(scripts.DROP, this.#keys.session(id), [id]);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Runs a script that has the header of one session as its only key. */
  #changeOne(script: string, id: string, values: ScriptArgument[] = []): Promise<unknown> {
    return this.#connection.change(script, this.#keys.session(id).slice(0, 1), values);
  }

  async #listed(ids: string[]): Promise<ListedSession[]> {
    if (ids.length === 0) return [];
    const places = ids.flatMap((id) => {
      const [session, , current] = this.#keys.session(id);
      return [session!, current!];
    });
    const found = await this.#connection.run(scripts.BROWSE, [this.#keys.due, ...places], ids);
    return readRows(found as Parameters<typeof toListed>[], (one) => toListed(...one));
  }
}

type RedisKeys = ReturnType<typeof createRedisKeys>;

/**
 * The names of keys. All keys of one script share a hash tag, and so are on one node of a cluster, because a session changes together with the
 * indexes over all sessions. Turns and blobs are independent, and spread over the nodes.
 */
function createRedisKeys(prefix: string) {
  const tag = `{${prefix}}`;
  const [due, open, ended] = [`${tag}:due`, `${tag}:open`, `${tag}:ended`];
  return {
    /** Session, entries, current, due, open, ended: in the order of KEYS in the scripts. */
    session: (id: string) => [`${tag}:s:${id}`, `${tag}:e:${id}`, `${tag}:c:${id}`, due, open, ended],
    due,
    open,
    ended,
    salt: `${tag}:salt`,
    turn: (id: string, rev: number) => `${prefix}:turn:${rev}:${id}`,
    blob: (sha256: string) => `${prefix}:blob:${sha256}`,
  };
}

/** The arguments of COMMIT after id, mark and rev. Absent values are empty texts. */
function toCommit({ patch, add, fence, dueAt, tombstoneMs }: SessionChange, maxTombstones: number): ScriptArgument[] {
  const { id: _id, principal: _principal, createdAt: _created, rev: _rev, current, ...rest } = patch;
  const { set, remove } = toHashFields(rest);
  const ends = patch.state !== undefined && isEnded({ state: patch.state });
  if (ends) remove.push('pending');
  const texts = [add?.length ? JSON.stringify(add) : '', current ? JSON.stringify(current) : ''];
  const tombstone = ends ? (tombstoneMs ?? TOMBSTONE_MS) : '';
  return [fence ?? '', dueAt ?? '', ...texts, tombstone, maxTombstones, set.length, ...set, ...remove];
}

/**
 * A header is a hash with one JSON text per field: fields and values in turn, and the fields to remove. `current` has its own key, since a hash
 * with a long value takes three times the memory.
 */
function toHashFields(part: Partial<Header>): { set: string[]; remove: string[] } {
  const [set, remove]: [string[], string[]] = [[], []];
  for (const [name, value] of Object.entries(part)) {
    if (value === undefined) remove.push(name);
    else set.push(name, JSON.stringify(value));
  }
  return { set, remove };
}

function parseHeader(fields: string[], current: string | null): Header {
  const members = [`"current":${current ?? '[]'}`];
  for (let at = 0; at < fields.length; at += 2) {
    // Fields that begin with a colon belong to the store.
    if (!fields[at]!.startsWith(':')) members.push(`"${fields[at]!}":${fields[at + 1]!}`);
  }
  return readHeaderText(`{${members.join(',')}}`);
}

function toListed(fields: string[], current: string | null, dueAt: string | null): ListedSession {
  const until = fields.findIndex((field, index) => index % 2 === 0 && field === ':u');
  return {
    header: parseHeader(fields, current),
    ...(dueAt !== null && { dueAt: Number(dueAt) }),
    ...(until >= 0 && { heldUntil: Number(fields[until + 1]) }),
  };
}

/** The id in a member of the index of open sessions: principal in JSON, creation time, id. */
function idIn(member: string): string {
  const end = JSON_STRING.exec(member)?.[0].length ?? 0;
  return member.slice(end + TIME_DIGITS);
}
