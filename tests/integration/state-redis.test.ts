// The state that gateways share, against a real redis-server, and what a gateway does while it has none.
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGateway, createLog, createServer, openSharedState } from 'mcp-parley';
import { keepsTheStateContract } from '../../src/kernel/state/state.contract.ts';
import { createTestIssuer } from '../../src/mcp/listen/auth/issuer.contract.ts';
import { send } from '../helpers/http-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { freePort } from '../helpers/server-process.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

const MINUTE = 60_000;
const KEYS = ['a key that all nodes have'];
const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

describe.skipIf(!hasTool('redis-server'))('a state in Redis', () => {
  let redis: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  const open = async (prefix = `test${prefixes++}`) => {
    const state = await openSharedState(redis.url, { prefix, log, keys: KEYS });
    closing.push(() => state.close());
    return state;
  };

  const connectTest = (): Redis => {
    const client = new Redis(redis.url);
    client.on('error', () => {}); // it is killed on purpose
    closing.push(() => client.disconnect());
    return client;
  };

  keepsTheStateContract('Redis', async () => {
    const prefix = `test${prefixes++}`;
    const state = await open(prefix);
    // The server's clock decides, and this test cannot set it: it looks until the key is gone.
    const client = connectTest();
    const pass = async (): Promise<void> => {
      await until('the short key to be over', async () => {
        const left = await Promise.all((await client.keys(`{${prefix}}*`)).map((key) => client.pttl(key)));
        return left.every((ms) => ms > 1000 || ms < 0);
      });
    };
    return { state, again: () => open(prefix), pass };
  });

  it('the keys in Redis do not show what was taken', async () => {
    const state = await open('shown');
    await state.take('a secret', MINUTE);
    const client = connectTest();
    const [key] = await client.keys('{shown}*');
    expect(key).toMatch(/^\{shown\}t:[\w-]{43}$/);
  });

  it('a DPoP proof that was used at one gateway is refused at another one, and at both while Redis is away', async () => {
    const issuer = await createTestIssuer();
    closing.push(() => issuer.close());
    const prefix = `test${prefixes++}`;
    const nodes = await Promise.all([1, 2].map(async () => startNode(issuer.url, await open(prefix))));
    const [one, two] = nodes as [string, string];
    const prove = await createProver(issuer);
    const call = async (node: string, proof: string): Promise<number> => {
      const request = modern('tools/call', { name: 'one__echo', arguments: {} });
      const headers = { ...request.headers, authorization: `DPoP ${prove.token}`, dpop: proof };
      return (await send(node, { ...request, headers })).status;
    };
    const [first, second, third] = [await prove.proof(), await prove.proof(), await prove.proof()];
    expect([await call(one, first), await call(two, first)]).toEqual([200, 401]);
    expect([await call(two, second), await call(one, second)]).toEqual([200, 401]);
    const resume = await redis.pause();
    expect([await call(one, third), await call(two, first)]).toEqual([503, 503]);
    await resume();
    await until('the gateways to go on', async () => (await call(one, await prove.proof())) === 200);
    expect(await call(two, first)).toBe(401); // what was acknowledged is on disk
  });

  it('a state whose Redis is read-only, or gone, fails and does not answer', async () => {
    const state = await open();
    const client = connectTest();
    await client.call('REPLICAOF', '127.0.0.1', String(await freePort()));
    await expect(state.take('a', MINUTE)).rejects.toMatchObject({ code: 'STATE_FAILED' });
    await client.call('REPLICAOF', 'NO', 'ONE');
    expect(await state.take('a', MINUTE)).toBe(true);
    const resume = await redis.pause();
    await expect(state.take('b', MINUTE)).rejects.toMatchObject({ code: 'STATE_FAILED' });
    await resume();
  });

  it('a Redis that hangs makes every command fail soon, a lease is lost, and all goes on afterwards', async () => {
    const state = await open();
    const version = await state.put('s', 'a', 'one', { version: 0 });
    const lease = (await state.lease('held', 900))!;
    const lost = new Promise<void>((resolve) => lease.onLost(resolve));
    const goOn = redis.halt();
    const failed = { code: 'STATE_FAILED' };
    const rate = { count: 1, perMs: MINUTE };
    await Promise.all([
      expect(state.get('s', 'a')).rejects.toMatchObject(failed),
      expect(state.put('s', 'a', 'two', { version: version! })).rejects.toMatchObject(failed),
      expect(state.remove('s', 'b')).rejects.toMatchObject(failed),
      expect(state.list('s')).rejects.toMatchObject(failed),
      expect(state.take('a', MINUTE)).rejects.toMatchObject(failed),
      expect(state.draw('a', rate, 1)).rejects.toMatchObject(failed),
      expect(state.lease('other', MINUTE)).rejects.toMatchObject(failed),
    ]);
    await lost;
    expect(lease.isSure()).toBe(false);
    goOn();
    await until('Redis to answer', () =>
      state.get('s', 'b').then(
        () => true,
        () => false,
      ),
    );
    await until('the lease to be free', async () => (await state.lease('held', MINUTE)) !== undefined);
  });

  it('a lease that was asked for while Redis hung is nobody’s afterwards', async () => {
    const state = await open();
    const goOn = redis.halt();
    await expect(state.lease('asked', 10 * MINUTE)).rejects.toMatchObject({ code: 'STATE_FAILED' });
    goOn();
    await until('the lease to be free', async () => {
      const lease = await state.lease('asked', 10 * MINUTE).catch(() => undefined);
      return lease !== undefined;
    });
  });

  it('values in Redis are sealed: they show nothing, and neither another key nor another place opens them', async () => {
    const prefix = `test${prefixes++}`;
    const state = await open(prefix);
    await state.put('s', 'a', 'a secret', { version: 0 });
    await state.put('s', 'b', 'another secret', { version: 0 });
    const client = connectTest();
    const rows = await client.keys(`{${prefix}}c:*`);
    expect(rows).toHaveLength(2);
    const [one, two] = (await Promise.all(rows.map((row) => client.hget(row, 'value')))) as [string, string];
    for (const text of [one, two]) expect(text).not.toContain('secret');
    const stranger = await openSharedState(redis.url, { prefix, log, keys: ['a key of somebody else'] });
    closing.push(() => stranger.close());
    await expect(stranger.get('s', 'a')).rejects.toMatchObject({ code: 'STATE_FAILED' });
    await client.hset(rows[0]!, 'value', two);
    await expect(state.list('s')).rejects.toMatchObject({ code: 'STATE_FAILED' });
  });

  it('a Redis that removes keys when its memory is full is refused', async () => {
    await using small = await startRedis({ maxmemory: '64mb', 'maxmemory-policy': 'volatile-lru' });
    await expect(openSharedState(small.url, { keys: KEYS })).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining('noeviction') as string,
    });
  });
});

it('a state in Redis without keys is refused, because nothing would be sealed', async () => {
  await expect(openSharedState('redis://127.0.0.1:1')).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: expect.stringContaining('`keys`') as string,
  });
});

it('openSharedState names what a state can be', async () => {
  await expect(openSharedState('postgres://host')).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: expect.stringContaining('redis://HOST') as string,
  });
});

/** Both answer for one URL, as behind a load balancer. */
async function startNode(issuer: string, state: Awaited<ReturnType<typeof openSharedState>>): Promise<string> {
  const server = createServer({ name: 'one', version: '1', log });
  server.tool('echo', {}, () => 'done');
  const options = { servers: { one: server }, log, state, keys: KEYS };
  const auth = { issuers: [{ issuer, audience: 'https://mcp.example.test/mcp' }] };
  const gateway = createGateway({ ...options, auth, publicUrl: 'https://mcp.example.test' });
  closing.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

async function createProver(issuer: Awaited<ReturnType<typeof createTestIssuer>>) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const htu = 'https://mcp.example.test/mcp';
  const token = await issuer.token({ aud: htu, cnf: { jkt: await calculateJwkThumbprint(jwk) } });
  let count = 0;
  const proof = () => {
    const ath = createHash('sha256').update(token).digest('base64url');
    const claims = { jti: `proof ${++count}`, htm: 'POST', htu, ath, iat: Math.floor(Date.now() / 1000) };
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk }).sign(privateKey);
  };
  return { token, proof };
}
