// Two hundred clients that are asked through one gateway at once. A third answers late, wrongly or never. Every answer reaches its
// own call and no other, and afterwards nothing is left of any of them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Client, Gateway } from 'mcp-parley';
import { connected, fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { until } from '../helpers/until.ts';

const CLIENTS = 200;
const KINDS = ['handshake', 'stateless', 'mute'] as const;
const MiB = 1024 * 1024;

let servers: HttpFixture[];
let gateway: Gateway;
let url: string;

beforeAll(async () => {
  servers = await Promise.all(['2025-11-25', '2026-07-28'].map(() => startHttp(fixture('bridged', ['--port', '0']))));
  gateway = createGateway({
    servers: {
      old: { server: servers[0]!.url, revision: '2025-11-25' },
      new: { server: servers[1]!.url, revision: '2026-07-28' },
    },
    names: 'always',
    ask: { channels: ['relay'] },
    limits: { maxParked: 1000 },
    log: createLog({ level: 'silent' }),
  });
  ({ url } = await gateway.listen({ port: 0 }));
});

afterAll(async () => {
  await gateway.close();
  await Promise.all(servers.map((server) => server.stop()));
});

test('each gets its own answer, and memory returns to its level', { timeout: 600_000 }, async () => {
  await swarm(); // whatever is made once is made by it
  const before = await heapUsed();
  await swarm();
  await swarm();
  const grown = (await heapUsed()) - before;
  expect(grown).toBeLessThan(24 * MiB); // two hundred calls that were kept would be more than that many times over
});

async function swarm(): Promise<void> {
  let goOn = (): void => {};
  const late = new Promise<void>((resolve) => (goOn = resolve));
  const asked = Array.from({ length: CLIENTS }, (_, index) => askOne(index, late));
  const all = Promise.all(asked);
  await Promise.race([all, Promise.all(asked.filter((_, index) => index % 3 !== 0))]); // what fails, fails at once
  goOn();
  await all;
  await untilNobodyWaits();
}

/** One client, from its first word to its last. */
async function askOne(index: number, late: Promise<void>): Promise<void> {
  const kind = KINDS[index % KINDS.length]!;
  const tool = `${index % 2 === 0 ? 'old' : 'new'}__ask`;
  const own = `city ${index}`;
  const mood = index % 3 === 0 ? (['late', 'wrong', 'never'] as const)[(index / 3) % 3]! : 'prompt';
  if (kind === 'mute') return askMute(tool, own, mood, late);
  const giveUp = new AbortController();
  const revision = kind === 'handshake' ? '2025-11-25' : '2026-07-28';
  await using client = await connected(url, {
    revision,
    onElicit: async (_, { signal }) => {
      if (mood === 'never') {
        giveUp.abort();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
      }
      if (mood === 'late') await late;
      return { action: 'accept', content: { city: mood === 'wrong' ? { not: 'a text' } : own } } as never;
    },
  });
  const outcome = client.callTool(tool, {}, { signal: giveUp.signal }).then(textIn, () => 'failed');
  if (mood === 'wrong') expect(await outcome).toContain('does not fit');
  else expect(await outcome).toBe(mood === 'never' ? 'failed' : `accept ${own}`);
}

/** One that cannot be asked: its model passes answers on, or does not. */
async function askMute(tool: string, own: string, mood: string, late: Promise<void>): Promise<void> {
  await using client = await connected(url, { revision: '2025-11-25' });
  const { _meta } = (await client.callTool(tool)) as { _meta?: Record<string, string> };
  const handle = _meta?.['mcp-parley/handle'];
  expect(handle).toBeTypeOf('string');
  if (mood === 'wrong') {
    const wrong = textIn(await client.callTool('parley_answer', { handle, answer: { town: own } }));
    expect(wrong).toContain('does not fit');
  }
  if (mood === 'late') await late;
  const given = mood === 'never' ? { decline: true } : { answer: { city: own } };
  const text = textIn(await client.callTool('parley_answer', { handle, ...given }));
  expect(text).toBe(mood === 'never' ? 'decline' : `accept ${own}`);
}

function textIn(result: Awaited<ReturnType<Client['callTool']>>): string {
  const [block] = result.content;
  return block?.type === 'text' ? block.text : '';
}

/** As the gateway tells of itself. */
async function untilNobodyWaits(): Promise<void> {
  await until('no call to wait any more', async () => {
    const text = await (await fetch(new URL('/metrics', url))).text();
    return /^parley_parked\S* 0$/m.test(text);
  });
}

async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
