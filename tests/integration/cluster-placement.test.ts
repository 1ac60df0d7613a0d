// A server of which there is one process among all gateways: who runs it, and who takes it when that gateway ends, is killed, or is paused.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from '../helpers/cluster.ts';
import { ROOT } from '../helpers/files.ts';
import type { Reply } from '../helpers/http-wire.ts';
import { callModern, openSession } from '../helpers/mcp-http.ts';
import { isAlive } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

interface Line {
  what: 'start' | 'call' | 'end';
  fence: string;
  pid: number;
  parent: number;
}

let redis: RedisServer;
let cluster: TestCluster;
let folder: string;
beforeEach(async () => {
  redis = await startRedis();
  folder = mkdtempSync(join(tmpdir(), 'parley-once-'));
  const once = {
    command: process.execPath,
    args: [join(ROOT, 'tests', 'fixtures', 'servers', 'once.mjs')],
    env: { ONCE: join(folder, 'lines') },
    placement: 'one',
  };
  cluster = await TestCluster.start({ redis: redis.url, servers: { once } });
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  for (const { pid } of lines()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  removeFolder(folder);
  await redis[Symbol.asyncDispose]();
});

function lines(): Line[] {
  try {
    const text = readFileSync(join(folder, 'lines'), 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  } catch {
    return []; // none so far
  }
}

const starts = () => lines().filter(({ what }) => what === 'start');
const textOf = ({ json, messages }: Reply) => (messages.at(-1) ?? json).result?.content?.[0]?.text ?? '';
const pidOf = (reply: Reply) => Number(textOf(reply).split(' ')[0]);

/** A call at each gateway; all answers come from the process of this number. */
async function callAtAll(urls = cluster.replicas.map(({ url }) => url)): Promise<number> {
  const replies = await Promise.all(urls.map((url) => callModern(url, 'count', {})));
  for (const reply of replies) expect(pidOf(reply), JSON.stringify(reply.json)).toBeGreaterThan(0);
  const pids = new Set(replies.map(pidOf));
  expect(pids.size).toBe(1);
  return [...pids][0]!;
}

/** The gateway that runs it. */
function holder(): number {
  const { parent } = starts().at(-1)!;
  return cluster.replicas.findIndex(({ parley }) => parley.child.pid === parent);
}

/** As far as gateways can see to it, a process of a lower fence does nothing once one of a higher fence has begun. */
function expectRisingFences(): void {
  const calls = lines().filter(({ what }) => what === 'call');
  const fences = calls.map(({ fence }) => Number(fence));
  expect(fences.every((fence) => fence > 0)).toBe(true);
  expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  expect(new Set(starts().map(({ fence }) => fence)).size).toBe(starts().length);
}

describe('a server with "placement": "one"', () => {
  test('a placed server has one process for the clients of all gateways, in both eras, however many come at once', async () => {
    const urls = cluster.replicas.map(({ url }) => url);
    const pid = await callAtAll([...urls, ...urls, ...urls]);
    for (const url of urls) {
      const session = await openSession(url, { capabilities: { elicitation: {} } });
      expect(pidOf(await session.call('count', {}))).toBe(pid);
    }
    expect(starts()).toMatchObject([{ pid }]);
  });

  test('a placed server goes on after its process has died, at the same gateway', async () => {
    const before = await callAtAll();
    const at = holder();
    process.kill(before, 'SIGKILL');
    await until('another process to answer', async () => {
      const reply = await callModern(cluster.replicas[0]!.url, 'count', {});
      return pidOf(reply) > 0 && pidOf(reply) !== before;
    });
    expect(holder()).toBe(at);
    expect(await callAtAll()).not.toBe(before);
  });

  test('a placed server is taken by another gateway after kill -9 of the one that ran it', async () => {
    const before = await callAtAll();
    const at = holder();
    await cluster.kill(at);
    const others = cluster.replicas.filter((_, n) => n !== at).map(({ url }) => url);
    await until('the next call to be answered', async () => {
      const reply = await callModern(others[0]!, 'count', {}).catch(() => undefined);
      return reply && pidOf(reply) > 0;
    });
    const after = await callAtAll(others);
    expect(after).not.toBe(before);
    expect(starts()).toHaveLength(2);
    await until('the former process to end', () => !isAlive(before));
    expectRisingFences();
  });

  test('a placed server is handed on without an error when the gateway that runs it is stopped, after its calls have ended', async () => {
    const before = await callAtAll();
    const at = holder();
    const others = cluster.replicas.filter((_, n) => n !== at).map(({ url }) => url);
    const inFlight = callModern(others[0]!, 'count', { ms: 1500 });
    await until('the call to be there', () => lines().filter(({ what }) => what === 'call').length > 3);
    cluster.replicas[at]!.parley.child.kill('SIGTERM');
    const later: Reply[] = [];
    for (let n = 0; n < 8; n++) later.push(await callModern(others[n % 2]!, 'count', {}));
    expect(pidOf(await inFlight)).toBe(before);
    expect(later.map((reply) => pidOf(reply) > 0)).not.toContain(false);
    await cluster.replicas[at]!.parley.ended();
    const after = await callAtAll(others);
    expect(after).not.toBe(before);
    const [first, second] = starts();
    const end = lines().findIndex(({ what, fence }) => what === 'end' && fence === first!.fence);
    expect(end).toBeGreaterThan(0);
    expect(lines().findIndex(({ what, fence }) => what === 'start' && fence === second!.fence)).toBeGreaterThan(end);
    expectRisingFences();
  });

  test('a placed server is lost by a gateway that was paused: it stops its process when it wakes, and uses that of the next one', async () => {
    const before = await callAtAll();
    const at = holder();
    const paused = cluster.replicas[at]!;
    const others = cluster.replicas.filter((_, n) => n !== at).map(({ url }) => url);
    paused.parley.child.kill('SIGSTOP');
    await until('another process to answer', async () => {
      const reply = await callModern(others[0]!, 'count', {}).catch(() => undefined);
      return reply && pidOf(reply) > 0 && pidOf(reply) !== before;
    });
    expect(isAlive(before)).toBe(true);
    const early = callModern(paused.url, 'count', {}); // it waits in the socket of the paused gateway
    paused.parley.child.kill('SIGCONT');
    await until('the former process to end', () => !isAlive(before));
    const answer = await early.catch(() => undefined);
    if (answer && pidOf(answer) > 0) expect(pidOf(answer)).not.toBe(before);
    await until('the gateway to use the next one', async () => {
      const reply = await callModern(paused.url, 'count', {}).catch(() => undefined);
      return reply && pidOf(reply) > 0;
    });
    expect(await callAtAll()).not.toBe(before);
    expectRisingFences();
  });
});
