// What an operator sees of gateways that serve as one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestCluster } from '../helpers/cluster.ts';
import { openSession } from '../helpers/mcp-http.ts';
import { WEATHER } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

interface Row {
  node: string;
  url: string;
  isSelf: boolean;
  isDraining: boolean;
  version: string;
  started: string;
  sessions: number;
  differs: string[];
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Row;

let redis: RedisServer;
let cluster: TestCluster;
beforeAll(async () => {
  redis = await startRedis();
  cluster = await TestCluster.start({
    redis: redis.url,
    servers: { weather: WEATHER },
    // The last one has other limits, and another key for callers under the same name.
    config: (n) => ({
      ...(n === 2 && { limits: { maxSessions: 77 } }),
      auth: { keys: [{ name: 'me', key: n === 2 ? 'another-secret-of-this-key' : 'the-secret-of-this-key' }] },
    }),
  });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

async function statusOf(at: number): Promise<Row[]> {
  const { home } = cluster.replicas[at]!;
  const { stdout } = await home.run(['status', '--json']);
  return (JSON.parse(stdout) as { nodes: Row[] }).nodes;
}

test('parley status shows the gateways of a cluster, with their versions, sessions and what they are configured with differently', async () => {
  await openSession(cluster.replicas[1]!.url, { headers: { authorization: 'Bearer the-secret-of-this-key' } });
  await until('the others to see the session', async () =>
    (await statusOf(0)).some(({ url, sessions }) => url === cluster.replicas[1]!.internal && sessions === 1),
  );
  const rows = await statusOf(0);
  expect(rows.map(({ isSelf }) => isSelf)).toEqual([true, false, false]);
  for (const row of rows) {
    expect(row).toMatchObject({ version, isDraining: false });
    expect(Math.abs(Date.now() - Date.parse(row.started))).toBeLessThan(600_000);
  }
  const byUrl = new Map(rows.map((row) => [row.url, row]));
  const seen = cluster.replicas.map(({ internal }) => byUrl.get(internal)!);
  expect(seen.map(({ differs }) => differs)).toEqual([[], [], ['auth', 'limits']]);
  expect(seen.map(({ sessions }) => sessions)).toEqual([0, 1, 0]);

  const { stdout } = await cluster.replicas[0]!.home.run(['status']);
  expect(stdout).toMatch(/NODE +AT +STATE +VERSION +UP +SESSIONS +CONFIGURATION/);
  expect(stdout).toMatch(/serving .* this one/);
  expect(stdout).toMatch(/differs from this one in auth, limits/);
  expect(JSON.stringify(rows) + stdout).not.toContain('secret-of-this-key');
});

test('a gateway says once in its log that another one is configured differently', async () => {
  const { parley } = cluster.replicas[0]!;
  const differs = () => parley.logged('cluster.differs');
  await until('the warning', () => differs().length > 0);
  expect(differs()).toMatchObject([{ keys: ['auth', 'limits'], url: cluster.replicas[2]!.internal }]);
});

test('a changed file shows at the others without a restart', async () => {
  const [, second] = cluster.replicas;
  const path = join(second!.home.path, 'parley.config.json');
  const config = JSON.parse(readFileSync(path, 'utf8')) as object;
  const differing = async () => (await statusOf(0)).find(({ url }) => url === second!.internal)?.differs;
  second!.home.write('parley.config.json', { ...config, rate: { perCaller: '100/s' } });
  await until('the difference', async () => String(await differing()) === 'rate');
  second!.home.write('parley.config.json', config);
  await until('no difference', async () => String(await differing()) === '');
});

test('a gateway that was killed is gone from the list, and one that ends is gone at once', async () => {
  expect(await statusOf(0)).toHaveLength(3);
  await cluster.kill(2);
  await until('two to be left', async () => (await statusOf(0)).length === 2);
  await cluster.replicas[1]!.parley.stop('SIGTERM');
  await until('one to be left', async () => (await statusOf(0)).length === 1);
});
