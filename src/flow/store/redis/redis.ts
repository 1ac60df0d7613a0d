// A store in Redis, shared by processes on any number of machines. Every operation is one atomic script. After a crash, what the server's
// append-only file holds survives (see docs/flow-stores.md). Leases use the server's time, so that clocks of machines may differ.
import { randomBytes } from 'node:crypto';
import { createCounter } from '../../../shared/crypto/ids.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { connectRedis } from './redis-connection.ts';
import type { ScriptArgument, RedisPlace } from './redis-connection.ts';
import { parseHeader, toHashFields } from './redis-fields.ts';
import { browseSessions, findDue, listOpen } from './redis-indexes.ts';
import { createRedisKeys } from './redis-keys.ts';
import { COMMIT, CREATE, DROP, FORGET_OUTCOME, LEASE, LOAD, PUT_BLOB, RELEASE, SALT, SPEND } from './redis-scripts.ts';
import { isEnded } from '../../header.ts';
import { networkOfShare, TOMBSTONE_MS } from '../store.ts';
import type { CreateResult, SessionChange, FlowStore, SessionLimits } from '../store.ts';

export interface RedisStoreOptions extends RedisPlace {
  /** Prefix of every key; stores with different prefixes share nothing. Default: `parley:flow`. */
  prefix?: string | undefined;
  /** How many ended sessions are remembered; the oldest are removed first. */
  maxTombstones?: number | undefined;
}

const MAX_TOMBSTONES = 10_000;

export async function createRedisStore(options: RedisStoreOptions): Promise<FlowStore> {
  const connection = await connectRedis(options);
  const keys = createRedisKeys(options.prefix ?? 'parley:flow');
  const mark = createCounter(`${randomBytes(9).toString('base64url')}.`);
  const most = options.maxTombstones ?? MAX_TOMBSTONES;
  return {
    durable: true,
    salt: String(await connection.run(SALT, [keys.salt], [randomBytes(8).toString('hex')])),
    async create(header, entries, limits) {
      const values = [header.id, mark(), ...toCreate(header, entries, limits)];
      const answer = await connection.change(CREATE, keys.session(header.id).slice(0, 5), values);
      return answer as CreateResult;
    },
    async load(id) {
      const found = await connection.run(LOAD, keys.session(id).slice(0, 3));
      if (!found) return undefined;
      const [fields, current, lists] = found as [string[], string | null, string[]];
      const entries = lists.flatMap((list) => JSON.parse(list) as JournalEntry[]);
      return { header: parseHeader(fields, current), entries };
    },
    async commit(id, expectRev, change) {
      const values = [id, mark(), expectRev, ...toCommit(change, most)];
      const [rev, ...rest] = (await connection.change(COMMIT, keys.session(id), values)) as [
        number | null,
        ...unknown[],
      ];
      if (rev === null) {
        const [fields, current] = rest as [string[]?, string?];
        return { ok: false, header: fields && parseHeader(fields, current ?? null) };
      }
      if (rest.length > 0) await connection.forget((rest as string[]).map((old) => keys.session(old)[0]!));
      return { ok: true, rev };
    },
    async lease(id, owner, ms) {
      const fence = (await connection.change(LEASE, keys.session(id).slice(0, 1), [owner, ms])) as number | null;
      return fence === null ? undefined : { fence };
    },
    release: async (id, owner) => void (await connection.change(RELEASE, keys.session(id).slice(0, 1), [owner])),
    due: (now, max) => connection.read((client) => findDue(client, keys, { now, max })),
    spend: async (id, rev, ttlMs) => (await connection.change(SPEND, [keys.turn(id, rev)], [mark(), ttlMs])) === 1,
    putBlob: async (sha256, bytes, ttlMs) =>
      void (await connection.change(PUT_BLOB, [keys.blob(sha256)], [bytes, ttlMs])),
    getBlob: async (sha256) => (await connection.read((client) => client.getBuffer(keys.blob(sha256)))) ?? undefined,
    list: (principal) => listOpen(connection, keys, principal),
    browse: (id) => browseSessions(connection, keys, id),
    forgetOutcome: async (id) => void (await connection.change(FORGET_OUTCOME, keys.session(id).slice(0, 1), [])),
    drop: async (id) => void (await connection.change(DROP, keys.session(id), [id])),
    close: () => connection.close(),
  };
}

/** The arguments of CREATE after id and mark. */
function toCreate(header: Header, entries: JournalEntry[], limits: SessionLimits): ScriptArgument[] {
  const { current, ...rest } = header;
  const [principal, created] = [JSON.stringify(header.share ?? header.principal), JSON.stringify(header.createdAt)];
  const texts = [JSON.stringify(entries), JSON.stringify(current)];
  const due = limits.dueAt ?? header.expiresAt;
  const { total, perPrincipal, perNetwork } = limits;
  const network = perNetwork === undefined ? undefined : networkOfShare(header);
  const ofNetwork = network === undefined ? ['', ''] : [JSON.stringify(network).slice(0, -1), perNetwork!];
  return [total, perPrincipal, principal, created, ...ofNetwork, due, ...texts, ...toHashFields(rest).set];
}

/** The arguments of COMMIT after id, mark and rev. Absent values are empty texts. */
function toCommit({ patch, add, fence, dueAt, tombstoneMs }: SessionChange, mostTombstones: number): ScriptArgument[] {
  const { id: _id, principal: _principal, createdAt: _created, rev: _rev, current, ...rest } = patch;
  const { set, remove } = toHashFields(rest);
  const ends = patch.state !== undefined && isEnded({ state: patch.state });
  if (ends) remove.push('pending');
  const texts = [add?.length ? JSON.stringify(add) : '', current ? JSON.stringify(current) : ''];
  const tombstone = ends ? (tombstoneMs ?? TOMBSTONE_MS) : '';
  return [fence ?? '', dueAt ?? '', ...texts, tombstone, mostTombstones, set.length, ...set, ...remove];
}
