// The official SDKs as clients of three gateways behind a proxy that sends each request to the next one.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../../helpers/cluster.ts';
import { startRedis } from '../../helpers/redis-server.ts';
import type { RedisServer } from '../../helpers/redis-server.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';
import type { SdkClient } from './helpers/sdk-clients.ts';

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
  cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url } } });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

const clients: SdkClient[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client[Symbol.asyncDispose]())));

async function connect(...how: Parameters<typeof connectSdk>): Promise<SdkClient> {
  const client = await connectSdk(...how);
  clients.push(client);
  return client;
}

const elicitation = {
  capability: {},
  answer: () => Promise.resolve({ action: 'accept' as const, content: { name: 'Ann' } }),
};

describe.each(KINDS)('%s, with three gateways', (kind) => {
  test('connects, lists and calls', async () => {
    const client = await connect(kind, cluster.url);
    expect((await client.client.listTools()).tools.map(({ name }) => name)).toContain('look');
    for (let n = 0; n < 6; n++) expect(await client.call('pay', { id: `${kind} ${n}` })).toBe(`pay ${kind} ${n} none`);
    for (let n = 0; n < 6; n++) expect(effects.effects().get(`${kind} ${n}`)).toBe(1);
  });

  test('is asked by one and answers at another', async () => {
    const client = await connect(kind, cluster.url, { elicitation });
    for (let n = 0; n < 6; n++)
      expect(await client.call('ask', { id: `${kind} q${n}` })).toBe(`asked ${kind} q${n} none Ann`);
    for (let n = 0; n < 6; n++) expect(effects.effects().get(`${kind} q${n}`)).toBe(1);
  });
});

describe.each(KINDS)('%s, when each gateway is killed once', (kind) => {
  test('goes on with its next call', async () => {
    const client = await connect(kind, cluster.url, { isPatient: true });
    for (let at = 0; at < 3; at++) {
      await cluster.kill(at);
      await cluster.restart(at);
      const id = `${kind} after ${at}`;
      expect(await client.call('pay', { id })).toBe(`pay ${id} none`);
      expect(effects.effects().get(id)).toBe(1);
    }
  });
});
