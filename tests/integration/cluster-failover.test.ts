// What clients of gateways that serve as one see when their Redis fails over to a replica.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import type { Reply } from '../helpers/http-wire.ts';
import { callModern, HttpSession, openSession } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSwitchingProxy } from '../helpers/switching-proxy.ts';
import type { SwitchingProxy } from '../helpers/switching-proxy.ts';
import { until } from '../helpers/until.ts';

let first: RedisServer;
let second: RedisServer;
let proxy: SwitchingProxy;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  effects = await EffectsServer.start();
});
beforeEach(async () => {
  [first, second] = await Promise.all([startRedis(), startRedis()]);
  await second.tell('REPLICAOF', '127.0.0.1', String(first.port));
  proxy = await startSwitchingProxy(first.port);
  const redis = `redis://127.0.0.1:${proxy.port}`;
  cluster = await TestCluster.start({ redis, servers: { effects: { url: effects.url } } });
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  for (const one of [proxy, first, second]) await one[Symbol.asyncDispose]();
});
afterAll(() => effects?.[Symbol.asyncDispose]());

const answerOf = ({ json, messages }: Reply) => messages.at(-1) ?? json;
const textOf = (reply: Reply) => answerOf(reply).result?.content?.[0]?.text;
const at = (n: number, { headers }: HttpSession) => new HttpSession(cluster.replicas[n]!.url, headers);

let calls = 0;
async function callAtEach(session: HttpSession, places = [0, 1, 2]): Promise<string[]> {
  const answers: string[] = [];
  for (const n of places) {
    const id = `failover-${++calls}`;
    const reply = await at(n, session).call('pay', { id });
    answers.push(textOf(reply) === `pay ${id} none` ? 'done' : `${reply.status} ${reply.text}`);
  }
  return answers;
}

async function hasAll(server: RedisServer): Promise<boolean> {
  const said = String(await server.tell('INFO', 'replication'));
  return said.includes('master_link_status:up') && said.includes('master_sync_in_progress:0');
}

/** How often gateways have registered. */
async function registrations(server: RedisServer): Promise<number> {
  return Number(await server.tell('GET', '{parley}n:nodes'));
}

test.each([
  { cuts: true, how: 'has ended its connections' },
  { cuts: false, how: 'keeps its connections and has become a replica' },
])('no session and no call is lost when Redis fails over and the old server $how', async ({ cuts }) => {
  const sessions = await Promise.all(cluster.replicas.map(({ url }) => openSession(url)));
  for (const session of sessions) expect(await callAtEach(session)).toEqual(['done', 'done', 'done']);
  const reply = at(1, sessions[0]!).call('pay', { id: `over-${cuts}`, ms: 8000 });
  await until('the call to act', () => effects.effects().has(`over-${cuts}`));
  await until('the replica to have all', () => hasAll(second));

  await second.tell('REPLICAOF', 'NO', 'ONE');
  await first.tell('REPLICAOF', '127.0.0.1', String(second.port));
  proxy.turnTo(second.port, { cuts });
  for (let n = 0; n < 5; n++)
    for (const session of sessions) expect(await callAtEach(session)).toEqual(['done', 'done', 'done']);
  expect(textOf(await reply)).toBe(`pay over-${cuts} none`);
  await until('new sessions to be written', async () => {
    const young = await openSession(cluster.url);
    return (await callAtEach(young).catch(() => [])).every((one) => one === 'done');
  });
  await cluster.kill(0);
  expect(await callAtEach(sessions[0]!, [1, 2])).toEqual(['done', 'done']);
  const plain = await callModern(cluster.replicas[1]!.url, 'pay', { id: `plain-${cuts}` });
  expect(textOf(plain)).toBe(`pay plain-${cuts} none`);
});

test('a session whose take-over was not copied to the replica goes on, and is at one gateway in the end', async () => {
  const session = await openSession(cluster.replicas[0]!.url);
  expect(await callAtEach(session)).toEqual(['done', 'done', 'done']);
  await until('the replica to have all', () => hasAll(second));
  await second.tell('REPLICAOF', 'NO', 'ONE'); // it gets no more
  await cluster.kill(0);
  expect(await callAtEach(session, [1, 2])).toEqual(['done', 'done']);
  // By its registration, which a gateway writes again every two seconds, it sees that writes were lost. A few of them are more than one of each.
  const before = await registrations(first);
  await until('each gateway to have registered again', async () => (await registrations(first)) >= before + 5);

  proxy.turnTo(second.port, { cuts: true });
  expect(await callAtEach(session, [2, 1, 2, 1])).toEqual(Array(4).fill('done'));
  for (const { parley } of cluster.replicas.slice(1))
    await until('the gateway to notice', () => parley.logged('store.behind').length > 0);
  expect(await callAtEach(session, [2, 1, 2, 1])).toEqual(Array(4).fill('done'));
  expect((await at(2, session).delete()).status).toBe(204);
  for (const n of [1, 2]) expect((await at(n, session).request('ping')).status).toBe(404);
});
