// Gateways that serve as one and whose clocks differ by two minutes.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { ROOT } from '../helpers/files.ts';
import { send } from '../helpers/http-wire.ts';
import type { Json, Reply } from '../helpers/http-wire.ts';
import { callModern, elicits, HttpSession, modern, openSession } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

/** Of the three gateways. */
const OFF_MS = [60_000, -60_000, 0];
const CLOCK = pathToFileURL(join(ROOT, 'tests', 'fixtures', 'clock-off.mjs')).href;

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
  cluster = await TestCluster.start({
    redis: redis.url,
    servers: { effects: { url: effects.url } },
    config: { log: { level: 'info' } },
    env: (n) => ({ NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_OFF_MS: String(OFF_MS[n]) }),
  });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

const textOf = ({ json, messages }: Reply) => (messages.at(-1) ?? json).result?.content?.[0]?.text;
const urls = () => cluster.replicas.map(({ url }) => url);
const PAIRS = [0, 1, 2].flatMap((from) => [0, 1, 2].map((to) => ({ from, to })));

test('the clocks of these gateways differ by two minutes', async () => {
  const joined = await Promise.all(
    cluster.replicas.map(({ parley }) => until('the log', () => parley.logged('cluster.joined')[0])),
  );
  const [ahead, behind] = joined.map(({ time }) => Date.parse(String(time)));
  expect(ahead! - behind!).toBeGreaterThan(60_000);
});

test.each(PAIRS)(
  'a session that is opened at gateway $from is used and deleted at gateway $to',
  async ({ from, to }) => {
    const { headers } = await openSession(urls()[from]!);
    const there = new HttpSession(urls()[to]!, headers);
    expect(textOf(await there.call('look', { id: `s${from}${to}` }))).toBe(`look s${from}${to} none`);
    expect((await there.delete()).status).toBe(204);
    for (const url of urls()) expect((await new HttpSession(url, headers).request('ping')).status).toBe(404);
  },
);

test.each(PAIRS)(
  'a client without a session is asked by gateway $from and answers at gateway $to',
  async ({ from, to }) => {
    const params = { name: 'ask', arguments: { id: `m${from}${to}` } };
    const first = await send(urls()[from]!, modern('tools/call', params, elicits));
    const { inputRequests, requestState } = first.json.result as { inputRequests: Json; requestState: string };
    const accepted = { action: 'accept', content: { name: 'Bob' } };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
    const retry = modern('tools/call', { ...params, requestState, inputResponses }, elicits);
    expect(textOf(await send(urls()[to]!, retry))).toBe(`asked m${from}${to} none Bob`);
  },
);

test.each([0, 1, 2])('a page link of gateway %i opens at all gateways', async (from) => {
  const asked = await callModern(urls()[from]!, 'ask', { id: `page${from}` });
  const link = new URL(/https?:\/\/\S+\/ask\S*\?t=[\w.-]+/.exec(textOf(asked) ?? '')![0]);
  for (const url of urls()) {
    const there = new URL(link.pathname + link.search, url).href;
    expect((await send(there, { method: 'GET', headers: { host: link.host } })).status).toBe(200);
  }
});

test('a session is taken over from a gateway that was killed', async () => {
  const { headers } = await openSession(urls()[0]!);
  await cluster.kill(0);
  for (const n of [1, 2]) {
    const reply = await new HttpSession(urls()[n]!, headers).call('look', { id: `taken${n}` });
    expect(textOf(reply)).toBe(`look taken${n} none`);
  }
});
