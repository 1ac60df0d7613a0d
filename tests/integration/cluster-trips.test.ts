// How often calls at gateways that serve as one ask their store, and what sessions keep there. What Redis itself has seen is counted.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { renewPart } from '../helpers/evidence-part.ts';
import { HttpSession, callModern, openSession } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

const CALLS = 60;
const SESSIONS = 50;
const MAX_SESSION_BYTES = 4096;

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
let monitor: Redis;
const seen: string[] = [];
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
  cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url } } });
  monitor = await new Redis(redis.port).monitor();
  monitor.on('monitor', (_at: string, command: string[], source: string) => {
    if (source !== 'lua') seen.push(command.join(' ')); // a script is one trip
  });
});
afterAll(async () => {
  monitor?.disconnect();
  await cluster?.[Symbol.asyncDispose]();
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

/** What gateways ask in any case: who is there, and whether sets have changed. */
const isOwn = (command: string): boolean =>
  command.startsWith('mget {parley}n:') || /\{parley\}[cin]:(?:nodes|cluster)\b/.test(command);

/** The trips of what is done. Redis shows commands in their order, so the mark comes after all of them. */
async function tripsOf(done: () => Promise<unknown>): Promise<number> {
  const marks = [`begin${Math.random()}`, `end${Math.random()}`] as const;
  await redis.tell('ECHO', marks[0]);
  await done();
  await redis.tell('ECHO', marks[1]);
  const at = (mark: string): number => seen.findIndex((command) => command.includes(mark));
  await until('the mark', () => at(marks[1]) !== -1);
  const between = seen.slice(at(marks[0]) + 1, at(marks[1]));
  return between.filter((command) => command.includes('{parley}') && !isOwn(command)).length;
}

const times = async (call: (n: number) => Promise<{ status: number }>): Promise<void> => {
  for (let n = 0; n < CALLS; n++) expect((await call(n)).status).toBe(200);
};

it('calls without a session, and calls of a session at its gateway and at others, ask the store for nothing', async () => {
  const urls = cluster.replicas.map(({ url }) => url);
  const stateless = (n: number) => callModern(urls[n % 3]!, 'look', { id: 'x' });
  // Each opens its connections to the server, and reads what is pinned of it.
  for (const n of [0, 1, 2]) {
    await stateless(n);
    await (await openSession(urls[n]!)).call('look', { id: 'x' });
  }
  let session!: HttpSession;
  const trips = {
    open: await tripsOf(async () => {
      session = await openSession(urls[0]!);
    }),
    stateless: await tripsOf(() => times(stateless)),
    owner: await tripsOf(() => times(() => session.call('look', { id: 'x' }))),
    forwarded: await tripsOf(() =>
      times((n) => new HttpSession(urls[1 + (n % 2)]!, session.headers).call('look', { id: 'x' })),
    ),
  };
  expect(trips.open).toBeGreaterThan(0);
  expect([trips.stateless, trips.owner]).toEqual([0, 0]);
  expect(trips.forwarded).toBeLessThanOrEqual(CALLS);

  await Promise.all(Array.from({ length: SESSIONS }, (_, n) => openSession(urls[n % 3]!)));
  const rows = (await redis.tell('KEYS', '{parley}c:sessions:*')) as string[];
  const sizes = await Promise.all(
    [...rows, '{parley}i:sessions'].map(async (key) => Number(await redis.tell('MEMORY', 'USAGE', key))),
  );
  const bytes = Math.round(sizes.reduce((sum, size) => sum + size, 0) / rows.length);
  expect(rows.length).toBeGreaterThan(SESSIONS);
  expect(bytes).toBeLessThanOrEqual(MAX_SESSION_BYTES);
  renewPart('trips', [
    '| what | trips to Redis | allowed |',
    '|---|---:|---:|',
    `| ${CALLS} calls without a session, at three gateways in turn | ${trips.stateless} | 0 |`,
    `| ${CALLS} calls of a session at the gateway that has it | ${trips.owner} | 0 |`,
    `| ${CALLS} calls of this session at the two others, which forward them | ${trips.forwarded} | ${CALLS} |`,
    `| a session is opened | ${trips.open} | |`,
    '',
    `An idle session keeps ${bytes} bytes in Redis, of ${MAX_SESSION_BYTES} allowed.`,
  ]);
});
