// The Redis store against a real redis-server.
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRedisStore } from '../../src/flow/store/redis/redis.ts';
import { keepsTheContract } from '../../src/flow/store/store.contract.ts';
import type { StoreUnderTest } from '../../src/flow/store/store.contract.ts';
import { outlivesItsProcess } from '../../src/flow/store/store-durable.contract.ts';
import { expectWhole, grownTo, keepsItsWordInRaces } from '../../src/flow/store/store-races.contract.ts';
import { answer, header, MANY, start } from '../../src/flow/store/store-samples.contract.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { freePort } from '../helpers/server-process.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

describe.skipIf(!hasTool('redis-server'))('the Redis store', () => {
  let redis: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  async function underItsOwnPrefix(): Promise<Required<StoreUnderTest>> {
    const prefix = `test${prefixes++}`;
    const again = () => createRedisStore({ url: redis.url, prefix });
    const store = await again();
    return { store, again, end: () => store.close() };
  }

  keepsTheContract('Redis', underItsOwnPrefix);
  keepsItsWordInRaces('Redis', underItsOwnPrefix);
  outlivesItsProcess('Redis', underItsOwnPrefix);

  it('keeps what it acknowledged when the server crashes, and continues by itself', async () => {
    const { store, end } = await underItsOwnPrefix();
    const made = header();
    await store.create(made, [start], MANY);
    await store.commit(made.id, 1, { patch: { prompts: 1 }, add: [answer('city', 'Paris')] });
    await redis.crash();
    expect(await store.load(made.id)).toEqual({
      header: { ...made, prompts: 1, rev: 2 },
      entries: [start, answer('city', 'Paris')],
    });
    expect((await store.commit(made.id, 2, { patch: {} })).ok).toBe(true);
    await end();
  });

  it('waits for a server that is away', async () => {
    const { store, end } = await underItsOwnPrefix();
    const made = header();
    await store.create(made, [start], MANY);
    const resume = await redis.pause();
    const asked = store.commit(made.id, 1, { patch: { prompts: 1 } });
    await resume();
    expect(await asked).toEqual({ ok: true, rev: 2 });
    await end();
  });

  it('names the address that does not answer, without the password', async () => {
    await expect(createRedisStore({ url: 'nowhere' })).rejects.toMatchObject({ code: 'BAD_OPTION' });
    await expect(createRedisStore({ url: 'redis://:secret@127.0.0.1:1' })).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(/used: 127\.0\.0\.1:1 does not answer: (?!.*secret)/),
    });
    await expect(createRedisStore({})).rejects.toThrow(/url: is missing/);
  });

  it('tells a change that is sent again what it was told before', async () => {
    const client = new Redis(redis.url);
    // Every answer to a script is lost once, as when the connection breaks after the server has done it.
    const twice = around(client, async (name, send) => {
      if (name === 'eval' || name === 'evalsha') await send();
      return send();
    });
    const store = await createRedisStore({ client: twice, prefix: 'twice' });
    const made = header();
    expect(await store.create(made, [start], { perPrincipal: 1, total: 1 })).toBe('ok');
    expect(await store.commit(made.id, 1, { patch: { prompts: 1 }, add: [answer('a', 1)] })).toEqual({
      ok: true,
      rev: 2,
    });
    expect((await store.load(made.id))!.entries).toEqual([start, answer('a', 1)]);
    expect(await store.spend('s', 1, 60_000)).toBe(true);
    expect(await store.spend('s', 1, 60_000)).toBe(false);
    expect(await store.commit(made.id, 2, { patch: { state: 'completed' } })).toEqual({ ok: true, rev: 3 });
    await store.close();
    expect(await client.ping()).toBe('PONG');
    await client.quit();
  });

  it('lists a session consistently, though another client writes between any two commands', async () => {
    const { store: writer, end } = await underItsOwnPrefix();
    const made = header({ current: [1] });
    await writer.create(made, [start], MANY);
    const client = new Redis(redis.url);
    let last: Promise<unknown> = Promise.resolve();
    let rev = 1;
    const slow = around(client, (_, send) => {
      const turn = last.then(async () => {
        await writer.commit(made.id, rev, grownTo(++rev));
        return send();
      });
      last = turn.catch(() => {});
      return turn;
    });
    const store = await createRedisStore({ client: slow, prefix: `test${prefixes - 1}` });
    for (let count = 0; count < 3; count++) await expectWhole(store, made);
    expect(rev).toBeGreaterThan(6);
    await client.quit();
    await end();
  });

  it('keeps every key of a session under one hash tag, and leaves nothing behind', async () => {
    const { store, end } = await underItsOwnPrefix();
    const client = new Redis(redis.url);
    // The salt stays, as long as the store.
    const mine = async () =>
      (await client.keys(`*test${prefixes - 1}*`)).filter((key) => !key.endsWith(':salt')).sort();
    const made = header({ current: ['?'] });
    await store.create(made, [start], MANY);
    const tags = (await mine()).map((key) => /^\{[^}]+\}:/.exec(key)?.[0]);
    expect(tags.length).toBe(5);
    expect(new Set(tags)).toEqual(new Set([`{test${prefixes - 1}}:`]));
    await store.commit(made.id, 1, { patch: { state: 'completed' } });
    expect(await mine()).toHaveLength(2);
    await store.drop(made.id);
    expect(await mine()).toEqual([]);
    await client.quit();
    await end();
  });

  it('works on a cluster, which refuses scripts whose keys live apart', async () => {
    await using node = await startRedis({
      'cluster-enabled': 'yes',
      'cluster-port': String(await freePort()),
      'cluster-announce-ip': '127.0.0.1',
    });
    const plain = new Redis(node.url);
    await plain.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
    await until('the cluster to be up', async () => (await plain.cluster('INFO')).includes('cluster_state:ok'));
    const client = new Cluster([{ host: '127.0.0.1', port: node.port }]);
    const store = await createRedisStore({ client });
    const made = header();
    expect(await store.create(made, [start], MANY)).toBe('ok');
    expect((await store.lease(made.id, 'a', 1))!.fence).toBe(1);
    await store.release(made.id, 'a');
    expect((await store.commit(made.id, 1, { patch: { expiresAt: 1 }, add: [answer('a', 1)] })).ok).toBe(true);
    expect((await store.load(made.id))!.entries).toHaveLength(2);
    expect(await store.due(2, 10)).toEqual([made.id]);
    expect(await store.list(made.principal)).toHaveLength(1);
    expect(await store.spend(made.id, 1, 1000)).toBe(true);
    await store.putBlob('hash', Buffer.from('x'), 60_000);
    expect(await store.getBlob('hash')).toEqual(Buffer.from('x'));
    expect((await store.commit(made.id, 2, { patch: { state: 'completed' } })).ok).toBe(true);
    await store.drop(made.id);
    expect(await store.load(made.id)).toBeUndefined();
    await store.close();
    await client.quit();
    await plain.quit();
  });

  it('remembers no more ended sessions than it may, the newest', async () => {
    const store = await createRedisStore({ url: redis.url, prefix: 'few', maxTombstones: 3 });
    const made = Array.from({ length: 8 }, () => header());
    for (const [index, one] of made.entries()) {
      await store.create(one, [], MANY);
      await store.commit(one.id, 1, { patch: { state: 'completed' }, tombstoneMs: 60_000 + index });
    }
    const left = await Promise.all(made.map(({ id }) => store.load(id)));
    expect(left.map(Boolean)).toEqual([false, false, false, false, false, true, true, true]);
    await store.close();
  });

  it('finds those that are due behind many that are held', async () => {
    const { store, end } = await underItsOwnPrefix();
    const held = Array.from({ length: 450 }, (_, index) => header({ expiresAt: 1000 + index }));
    await Promise.all(held.map((one) => store.create(one, [], MANY)));
    await Promise.all(held.slice(0, 440).map(({ id }) => store.lease(id, 'a', 60_000)));
    expect(await store.due(Date.now(), 5)).toEqual(held.slice(440, 445).map(({ id }) => id));
    await end();
  });

  it('refuses a server that would evict sessions, and waitAof if the server lacks it', async () => {
    await using small = await startRedis({ maxmemory: '50mb', 'maxmemory-policy': 'allkeys-lru' });
    await expect(createRedisStore({ url: small.url })).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(/evicts sessions .*allkeys-lru.*noeviction/),
    });
    const client = new Redis(redis.url);
    const [, major, minor] = /redis_version:(\d+)\.(\d+)/.exec(await client.info())!;
    await client.quit();
    const opened = createRedisStore({ url: redis.url, prefix: 'aof', waitAof: { local: 1, replicas: 0 } });
    if (Number(major) < 7 || (major === '7' && Number(minor) < 2)) {
      await expect(opened).rejects.toMatchObject({
        code: 'STORE_UNUSABLE',
        message: expect.stringMatching(/Redis 7\.2/),
      });
    } else {
      const store = await opened;
      expect(await store.create(header(), [start], MANY)).toBe('ok');
      await store.close();
    }
  });
});

/** A client whose commands are sent as somebody else likes. */
function around(client: Redis, act: (name: PropertyKey, send: () => Promise<unknown>) => Promise<unknown>): Redis {
  return new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => act(name, () => call(...args));
    },
  });
}
