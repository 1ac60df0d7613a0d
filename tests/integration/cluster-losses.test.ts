// What clients see when gateways that serve as one are killed, stopped, paused or restarted.
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { EffectsServer, TestCluster } from '../helpers/cluster.ts';
import { send } from '../helpers/http-wire.ts';
import type { Reply } from '../helpers/http-wire.ts';
import { elicits, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import type { HttpSession } from '../helpers/mcp-http.ts';
import { DEMO_FIXTURE } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

let redis: RedisServer;
let effects: EffectsServer;
let cluster: TestCluster;
beforeAll(async () => {
  [redis, effects] = await Promise.all([startRedis(), EffectsServer.start()]);
});
beforeEach(async () => {
  const [command, ...args] = DEMO_FIXTURE;
  // A question to a client without a session waits in the gateway, with the call.
  const handshake = { command, args, revision: '2025-11-25' };
  cluster = await TestCluster.start({ redis: redis.url, servers: { effects: { url: effects.url }, handshake } });
});
afterEach(() => cluster[Symbol.asyncDispose]());
afterAll(async () => {
  await effects?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

/** Of an answer that came alone, or as the last one of a stream. */
const textOf = ({ json, messages }: Reply) => (messages.at(-1) ?? json).result?.content?.[0]?.text;

/** A session of the first gateway, used at the address of all. */
async function openAtFirst(): Promise<HttpSession> {
  cluster.turnTo(0);
  return openSession(cluster.url);
}

/** A call in flight that came in at the second gateway and is at the first. */
async function callAtFirst(session: HttpSession, tool: string, id: string) {
  cluster.turnTo(1);
  const call = session.call(tool, { id, ms: 3000 });
  await until('the call to act', () => effects.effects().has(id));
  return call;
}

describe('after kill -9 of its owner', () => {
  test('a session goes on at another gateway, and the next call is only slow', async () => {
    const session = await openAtFirst();
    await session.request('logging/setLevel', { level: 'debug' });
    await cluster.replicas[0]!.parley.stop('SIGKILL');
    for (const id of ['one', 'two', 'three']) expect(textOf(await session.call('pay', { id }))).toBe(`pay ${id} none`);
    expect([...effects.effects()].filter(([id]) => ['one', 'two', 'three'].includes(id))).toEqual([
      ['one', 1],
      ['two', 1],
      ['three', 1],
    ]);
  });

  test('a call in flight ends with an error that says that it may have acted', async () => {
    const session = await openAtFirst();
    const call = callAtFirst(session, 'pay', 'lost');
    await until('the call to act', () => effects.effects().has('lost'));
    cluster.replicas[0]!.parley.child.kill('SIGKILL');
    const { messages, json } = await call;
    const answer = messages.at(-1) ?? json;
    expect(answer.error).toMatchObject({ data: { ownerLost: true, mayHaveActed: 'unknown' } });
    expect(effects.effects().get('lost')).toBe(1);
    expect(textOf(await session.call('pay', { id: 'after' }))).toBe('pay after none');
  });

  test('a call that only reads is repeated once, and answered', async () => {
    const session = await openAtFirst();
    const call = callAtFirst(session, 'look', 'read');
    await until('the call to act', () => effects.effects().has('read'));
    cluster.replicas[0]!.parley.child.kill('SIGKILL');
    expect(textOf(await call)).toBe('look read none');
    expect(effects.effects().get('read')).toBe(2);
  });

  test('a session that was deleted is nowhere', async () => {
    const session = await openAtFirst();
    expect((await session.delete()).status).toBe(204);
    await cluster.replicas[0]!.parley.stop('SIGKILL');
    expect((await session.request('ping')).status).toBe(404);
  });
});

test('a gateway that was paused owns nothing when it wakes', async () => {
  const session = await openAtFirst();
  const [first, second] = cluster.replicas;
  first!.parley.child.kill('SIGSTOP');
  const direct = (url: string) =>
    send(url, { headers: session.headers, body: rpc('tools/call', { name: 'look', arguments: { id: 'paused' } }) });
  await until('another gateway to have the session', async () => {
    const reply = await direct(second!.url).catch(() => undefined);
    return reply && textOf(reply) === 'look paused none';
  });
  first!.parley.child.kill('SIGCONT');
  expect(textOf(await direct(first!.url))).toBe('look paused none');

  expect((await session.delete()).status).toBe(204);
  for (const { url } of cluster.replicas) expect((await direct(url)).status).toBe(404);
});

test('a question of a gateway that is stopping is answered at another one', async () => {
  const params = { name: 'probe_elicit', arguments: {} };
  const [first, second] = cluster.replicas;
  const asked = await send(first!.url, modern('tools/call', params, elicits));
  const { inputRequests, requestState } = asked.json.result as unknown as {
    inputRequests: Record<string, unknown>;
    requestState: string;
  };
  first!.parley.child.kill('SIGTERM');
  await until('the second gateway to know that the first is stopping', async () => {
    const { stdout } = await second!.home.run(['status', '--json']);
    const { nodes } = JSON.parse(stdout) as { nodes: { url: string; isDraining: boolean }[] };
    return nodes.some(({ url, isDraining }) => url === first!.internal && isDraining);
  });
  const accepted = { action: 'accept', content: { name: 'Fay' } };
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
  const retry = modern('tools/call', { ...params, requestState, inputResponses }, elicits);
  expect(textOf(await send(second!.url, retry))).toBe('Hello, Fay');
  expect(await first!.parley.ended()).toBe(0);
});

test('a client with a session gets no error from a rolling restart behind a load balancer that asks for /readyz', async () => {
  cluster.watchHealth(); // what is sent to a port while it closes gets no answer, from any server
  const session = await openAtFirst();
  const over = new AbortController();
  const failures: unknown[] = [];
  const calls = (async () => {
    for (let n = 0; !over.signal.aborted; n++) {
      const reply = await session.call('pay', { id: `roll-${n}` }).catch(String);
      if (typeof reply === 'string' || textOf(reply) !== `pay roll-${n} none`) failures.push(reply);
    }
  })();
  for (let at = 0; at < 3; at++) {
    const { parley } = cluster.replicas[at]!;
    parley.child.kill('SIGTERM');
    await parley.ended();
    await cluster.restart(at);
  }
  over.abort();
  await calls;
  expect(failures).toEqual([]);
  expect([...effects.effects()].filter(([id, count]) => id.startsWith('roll-') && count > 1)).toEqual([]);
});
