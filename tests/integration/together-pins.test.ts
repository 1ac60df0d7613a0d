// Gateways that share a state have one baseline of what their servers list. With a real redis-server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { createLog, createServer } from 'mcp-parley';
import { send } from '../helpers/http-wire.ts';
import { callModern, modern } from '../helpers/mcp-http.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { KEYS, startTogether } from '../helpers/together.ts';
import type { Together } from '../helpers/together.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const closing: (() => Promise<unknown>)[] = [];
const { newHome } = homesOfTests();

describe.skipIf(!hasTool('redis-server'))('gateways with one state', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    for (const close of closing.splice(0)) await close();
    await redis[Symbol.asyncDispose]();
  });

  /** Each gateway has a server of its own under the same name, which lists the tool with this description. */
  const start = async (descriptions: readonly string[], prefix?: string): Promise<Together> => {
    const servers = descriptions.map((description) => {
      const server = createServer({ name: 'one', version: '1', log });
      server.tool('wipe', { description }, () => 'wiped');
      return server;
    });
    const ports = await Promise.all(servers.map((server) => server.listen({ port: 0 })));
    closing.push(() => Promise.all(servers.map((server) => server.close())));
    return startTogether(redis, ports.length, (n) => ({ servers: { one: ports[n]!.url }, pins: 'hold' }), prefix);
  };

  const namesAt = async (url: string): Promise<string[]> => {
    const { json } = await send(url, modern('tools/list'));
    return (json.result!.tools as { name: string }[]).map(({ name }) => name);
  };

  it('what another gateway has seen first is the baseline, and a difference is held back', async () => {
    await using nodes = await start(['Wipes a disk', 'Wipes a disk', 'Wipes a disk, and mails its content']);
    const [one, two, three] = nodes.urls as [string, string, string];
    expect(await namesAt(one)).toEqual(['wipe']);
    expect(await namesAt(two)).toEqual(['wipe']);
    expect(await namesAt(three)).toEqual([]);
    expect((await callModern(three, 'wipe')).json.error?.message).toContain('held back');
    expect((await callModern(two, 'wipe')).json.result?.content).toEqual([{ type: 'text', text: 'wiped' }]);
    // The others list their tool again, which says nothing of the tool of the third one.
    expect([await namesAt(one), await namesAt(two)]).toEqual([['wipe'], ['wipe']]);
    expect((await callModern(three, 'wipe')).json.error?.message).toContain('held back');
    expect(await namesAt(three)).toEqual([]);
  });

  it('of gateways that see a server first at the same moment, one makes the baseline', async () => {
    await using nodes = await start(['One description', 'Another description', 'A third one']);
    const first = await Promise.all(nodes.urls.map(namesAt));
    expect(first.filter((names) => names.length === 1)).toHaveLength(1);
    for (let times = 0; times < 5; times++) expect(await Promise.all(nodes.urls.map(namesAt))).toEqual(first);
  });

  it('what an operator accepts is accepted at every gateway', async () => {
    await using nodes = await start(['Before', 'After'], 'parley');
    const [one, two] = nodes.urls as [string, string];
    expect([await namesAt(one), await namesAt(two)]).toEqual([['wipe'], []]);
    const home = newHome();
    home.write('parley.config.json', { mcpServers: {}, state: redis.url, keys: KEYS });
    const run = (...words: string[]) => home.run(['pins', ...words]);
    expect((await run()).stdout).toMatch(/one__wipe +tools +changed/);
    expect((await run('diff', 'one')).stdout).toContain('After');
    const accepted = await run('accept', 'one', '--yes');
    expect([accepted.status, accepted.stdout.split('\n').at(-2)]).toEqual([0, 'Accepted: 1.']);
    await until('the tool to be listed again', async () => (await namesAt(two)).length === 1);
  });

  it('while the state does not answer, what was seen before is listed and nothing new is', async () => {
    await using nodes = await start(['Known', 'Known']);
    const [one, two] = nodes.urls as [string, string];
    // Several times: it also hears of what it wrote itself, and reads that before it is at rest.
    for (let times = 0; times < 10; times++) expect(await namesAt(one)).toEqual(['wipe']);
    const goOn = redis.halt();
    try {
      expect(await namesAt(one)).toEqual(['wipe']);
      expect((await send(two, modern('tools/list'))).json.error?.code).toBe(-32603);
    } finally {
      goOn();
    }
    await until('the other gateway to go on', async () => (await namesAt(two).catch(() => [])).length === 1);
  });

  it('a baseline that Redis has lost is written again by the gateway that knows it', async () => {
    await using nodes = await start(['Before', 'After'], 'lost');
    const [one, two] = nodes.urls as [string, string];
    expect(await namesAt(one)).toEqual(['wipe']);
    const client = new Redis(redis.url);
    await client.flushall();
    await until('the baseline to be there again', async () => {
      await namesAt(one);
      return (await client.keys('{lost}c:pins:*')).length === 1;
    });
    client.disconnect();
    expect(await namesAt(two)).toEqual([]);
  });
});
