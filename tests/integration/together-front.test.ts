// Gateways with one state and an authorization server in front are one authorization server. With a real redis-server and identity provider.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog, openSharedState } from 'mcp-parley';
import { Browser, REDIRECT, authorizeLink, byCode, exchange, register, startFront } from '../helpers/front-setup.ts';
import { callModern } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { KEYS } from '../helpers/together.ts';
import { hasTool } from '../helpers/tools.ts';

const log = createLog({ level: 'silent' });

describe.skipIf(!hasTool('redis-server'))('two gateways with an authorization server in front', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  const open = (prefix: string) => startFront({ state: () => openSharedState(redis.url, { prefix, keys: KEYS, log }) });

  it('a client and a code of one gateway are known to the other, and the code is taken once', async () => {
    await using setup = await open('code');
    const other = await setup.another();
    const { client_id: id } = await register(setup.front);
    const browser = new Browser();
    const page = await browser.open(await authorizeLink(setup.front, String(id)));
    const back = await browser.decide(page, 'allow', REDIRECT);
    const form = byCode(String(id), back.url);
    const tries = await Promise.all([exchange(other.front, form), exchange(setup.front, form)]);
    expect(tries.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await exchange(other.front, form)).status).toBe(400);
  });

  it('a token of one gateway is taken and renewed at the other, and a refresh token that is used twice ends the login at both', async () => {
    await using setup = await open('tokens');
    const other = await setup.another();
    const { client_id: id } = await register(other.front);
    const browser = new Browser();
    const page = await browser.open(await authorizeLink(setup.front, String(id)));
    const back = await browser.decide(page, 'allow', REDIRECT);
    const { body } = await exchange(setup.front, byCode(String(id), back.url));
    const call = (url: string, token: string) =>
      callModern(url, 'hello__whoami', {}, { authorization: `Bearer ${token}` }).then(({ status }) => status);
    expect(await call(setup.url, body['access_token']!)).toBe(200);
    expect(await call(other.url, body['access_token']!)).toBe(200);
    const renew = (front: string, token: string) =>
      exchange(front, { grant_type: 'refresh_token', client_id: String(id), refresh_token: token });
    const renewed = await renew(other.front, body['refresh_token']!);
    expect(renewed.status).toBe(200);
    expect(await call(setup.url, renewed.body['access_token']!)).toBe(200);
    expect((await renew(setup.front, body['refresh_token']!)).status).toBe(400);
    expect((await renew(other.front, renewed.body['refresh_token']!)).status).toBe(400);
  });
});
