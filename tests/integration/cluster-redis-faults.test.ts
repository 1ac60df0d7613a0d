// What clients of gateways that serve as one see while their Redis hangs, dies, is emptied or fails over, and afterwards.
// PARLEY_REDIS_AWAY_MS says for how long Redis is away: test:long takes 30 s.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { send } from '../helpers/http-wire.ts';
import type { Reply } from '../helpers/http-wire.ts';
import { callModern, HttpSession, openSession, rpc } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

/** Longer than a gateway is there without saying so again (6 s). */
const AWAY_MS = Number(process.env['PARLEY_REDIS_AWAY_MS'] ?? 9000);

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  effects = await EffectsServer.start();
});
beforeEach(async () => {
  redis = await startRedis();
  cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url } } });
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});
afterAll(() => effects?.[Symbol.asyncDispose]());

/** Of an answer that came alone, or as the last one of a stream. */
const answerOf = ({ json, messages }: Reply) => messages.at(-1) ?? json;
const textOf = (reply: Reply) => answerOf(reply).result?.content?.[0]?.text;

/** The same session at the address of one gateway. */
const at = (n: number, { headers }: HttpSession) => new HttpSession(cluster.replicas[n]!.url, headers);

let calls = 0;
/** What a call at each gateway was answered. */
async function callAtEach(session: HttpSession): Promise<(string | undefined)[]> {
  const answers: (string | undefined)[] = [];
  for (const n of cluster.replicas.keys()) {
    const id = `each-${++calls}`;
    const reply = await at(n, session).call('pay', { id });
    answers.push(textOf(reply) === `pay ${id} none` ? 'done' : `${reply.status} ${reply.text}`);
  }
  return answers;
}
const ALL = ['done', 'done', 'done'];

async function statelessAtEach(): Promise<(string | undefined)[]> {
  const replies = await Promise.all(
    cluster.replicas.map(({ url }) => callModern(url, 'pay', { id: `plain-${++calls}` })),
  );
  return replies.map((reply) => (answerOf(reply).result ? 'done' : reply.text));
}

/** A call that is in flight at its gateway and came in at another one. */
async function callFor(session: HttpSession, ms: number, id: string): Promise<{ reply: Promise<Reply> }> {
  const reply = session.call('pay', { id, ms });
  await until('the call to act', () => effects.effects().has(id));
  reply.catch(() => {}); // a test that fails before it looks at it says why
  return { reply };
}

/** A session of each gateway; all gateways have met, and have compared the definitions of the server with their pins. */
async function openAtEach(): Promise<HttpSession[]> {
  const sessions = await Promise.all(cluster.replicas.map(({ url }) => openSession(url)));
  for (const session of sessions) expect(await callAtEach(session)).toEqual(ALL);
  expect(await statelessAtEach()).toEqual(ALL);
  return sessions;
}

test('while Redis hangs, what is known goes on, what is unknown is told to try again, and nothing is lost afterwards', async () => {
  const [old] = (await openAtEach()) as [HttpSession];
  const { reply } = await callFor(at(1, old), AWAY_MS + 8000, 'long');
  const goOn = redis.halt();
  const away = pause(AWAY_MS);

  expect(await statelessAtEach()).toEqual(ALL);
  expect(await callAtEach(old)).toEqual(ALL);
  const young = await openSession(cluster.replicas[2]!.url);
  expect(textOf(await young.call('pay', { id: 'young' }))).toBe('pay young none');
  expect(await callAtEach(young)).toEqual(ALL);
  const unknown = { ...old.headers, 'mcp-session-id': old.headers['mcp-session-id']!.replace(/\..*$/, '.unknown1') };
  const refused = await send(cluster.replicas[0]!.url, { headers: unknown, body: rpc('ping') });
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);

  await away;
  expect(await statelessAtEach()).toEqual(ALL);
  expect(await callAtEach(old)).toEqual(ALL);
  expect(await callAtEach(young)).toEqual(ALL);
  goOn();
  // In the moment in which each gateway has yet to say that it is there.
  for (let n = 0; n < 10; n++) {
    expect(await callAtEach(old)).toEqual(ALL);
    expect(await callAtEach(young)).toEqual(ALL);
  }
  expect(textOf(await reply)).toBe('pay long none');
  expect(effects.effects().get('long')).toBe(1);
  expect(cluster.replicas.flatMap(({ parley }) => parley.logged('session.lost'))).toEqual([]);

  await until(
    'the young session to be written',
    async () => Number(await redis.tell('ZCARD', '{parley}i:sessions')) === 4,
  );
  await cluster.kill(2);
  expect(textOf(await at(0, young).call('pay', { id: 'taken' }))).toBe('pay taken none');
});

test('a Redis that was killed comes back with what is on disk, and all sessions go on', async () => {
  const sessions = await openAtEach();
  const { reply } = await callFor(at(1, sessions[0]!), AWAY_MS + 8000, 'over-crash');
  const goOn = await redis.pause();
  await pause(AWAY_MS);
  for (const session of sessions) expect(await callAtEach(session)).toEqual(ALL);
  await goOn();
  for (const session of sessions) expect(await callAtEach(session)).toEqual(ALL);
  expect(textOf(await reply)).toBe('pay over-crash none');
  expect(cluster.replicas.flatMap(({ parley }) => parley.logged('session.lost'))).toEqual([]);
});

test('a Redis that was emptied is said once by each gateway, and sessions go on, also those of a gateway that is killed then', async () => {
  const sessions = await openAtEach();
  const { reply } = await callFor(at(1, sessions[0]!), 8000, 'over-flush');
  await redis.tell('FLUSHALL');
  for (let n = 0; n < 10; n++) for (const session of sessions) expect(await callAtEach(session)).toEqual(ALL);
  expect(textOf(await reply)).toBe('pay over-flush none');
  await until(
    'all sessions to be written again',
    async () => Number(await redis.tell('ZCARD', '{parley}i:sessions')) === 3,
  );
  await cluster.kill(0);
  expect(textOf(await at(1, sessions[0]!).call('pay', { id: 'after-flush' }))).toBe('pay after-flush none');
  for (const { parley } of cluster.replicas.slice(1)) expect(parley.logged('store.emptied')).toHaveLength(1);
});
