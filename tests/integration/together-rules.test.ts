// What gateways that share a state decide together: rules about what was done before, and rates. With a real redis-server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayOptions } from 'mcp-parley';
import { send } from '../helpers/http-wire.ts';
import { callModern, modern, openSession } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startTogether } from '../helpers/together.ts';
import type { Together } from '../helpers/together.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

const READ = { tool: 'read', marks: ['private'] } as const;
const SEND = { tool: 'send', after: ['private'], effect: 'deny' } as const;
const RULES: GatewayOptions['rules'] = [READ, { resource: 'private://*', marks: ['private'] }, SEND];
const PER_SESSION: GatewayOptions['rules'] = [READ, { ...SEND, per: 'session' }];
const BY_EXPRESSION: GatewayOptions['rules'] = [READ, { tool: 'send', when: 'history.private', effect: 'deny' }];

describe.skipIf(!hasTool('redis-server'))('three gateways with one state', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  const start = (options: Partial<GatewayOptions>): Promise<Together> => startTogether(redis, 3, options);
  const call = async (url: string, tool: string): Promise<'done' | 'refused' | number> => {
    const { json } = await callModern(url, `one__${tool}`);
    if (json.error) return json.error.code;
    return json.result!.isError === true ? 'refused' : 'done';
  };
  /** By three gateways in turns, one after the other. */
  const calls = async ({ urls }: Together, tool: string, count: number) => {
    const outcomes = [];
    for (let n = 0; n < count; n++) outcomes.push(await call(urls[n % urls.length]!, tool));
    return outcomes;
  };
  const sent = ({ effects }: Together): number => effects.filter((name) => name === 'send').length;

  it('a rule about what was read before refuses at every gateway what was read at one', async () => {
    await using nodes = await start({ rules: RULES });
    expect(await calls(nodes, 'send', 3)).toEqual(['done', 'done', 'done']);
    expect(await call(nodes.urls[0]!, 'read')).toBe('done');
    expect(await calls(nodes, 'send', 6)).toEqual(Array(6).fill('refused'));
    expect(sent(nodes)).toBe(3);
  });

  it('a rule about what was read before knows resources that were read at another gateway', async () => {
    await using nodes = await start({ rules: RULES });
    const { json } = await send(nodes.urls[0]!, modern('resources/read', { uri: 'private://mail' }));
    expect(json.result).toBeDefined();
    expect(await calls(nodes, 'send', 3)).toEqual(Array(3).fill('refused'));
  });

  it('an expression about the history sees what was read at another gateway', async () => {
    await using nodes = await start({ rules: BY_EXPRESSION });
    expect(await calls(nodes, 'send', 3)).toEqual(Array(3).fill('done'));
    await call(nodes.urls[1]!, 'read');
    expect(await calls(nodes, 'send', 3)).toEqual(Array(3).fill('refused'));
  });

  it('a rule about one session forgets nothing that another gateway noted for the caller', async () => {
    await using nodes = await start({ rules: PER_SESSION });
    const session = await openSession(nodes.urls[0]!);
    const other = await openSession(nodes.urls[0]!);
    await session.call('one__read');
    const isRefused = async (from: typeof session) => (await from.call('one__send')).json.result!.isError === true;
    expect([await isRefused(session), await isRefused(other)]).toEqual([true, false]);
    // Without a session the caller is known by its principal alone.
    expect(await calls(nodes, 'send', 3)).toEqual(Array(3).fill('refused'));
  });

  it('of a hundred calls at once at three gateways, none is sent after something private was read', async () => {
    await using nodes = await start({ rules: RULES });
    const before = await Promise.all(Array.from({ length: 30 }, (_, n) => call(nodes.urls[n % 3]!, 'read')));
    expect(new Set(before)).toEqual(new Set(['done']));
    const after = await Promise.all(Array.from({ length: 100 }, (_, n) => call(nodes.urls[n % 3]!, 'send')));
    expect(new Set(after)).toEqual(new Set(['refused']));
    expect(sent(nodes)).toBe(0);
  });

  it('while the state does not answer, a rule about the past allows nothing, and other calls go on', async () => {
    await using nodes = await start({ rules: RULES });
    await calls(nodes, 'send', 3);
    const goOn = redis.halt();
    try {
      const [sends, echoes, reads] = await Promise.all([
        calls(nodes, 'send', 3),
        calls(nodes, 'echo', 3),
        calls(nodes, 'read', 3),
      ]);
      expect(sends).toEqual(Array(3).fill(-32603));
      expect(echoes).toEqual(Array(3).fill('done'));
      expect(reads).toEqual(Array(3).fill(-32603)); // what was not noted was not done
      expect(sent(nodes)).toBe(3);
      expect(nodes.effects).not.toContain('read');
    } finally {
      goOn();
    }
    await until('the gateways to go on', async () => (await call(nodes.urls[0]!, 'read')) === 'done');
    expect(await calls(nodes, 'send', 6)).toEqual(Array(6).fill('refused'));
  });

  it('a rate is what all gateways allow together, one after the other and at once', async () => {
    await using nodes = await start({ rate: { perCaller: '6/h' } });
    const outcomes = await calls(nodes, 'echo', 18);
    expect(outcomes.filter((one) => one === 'done')).toHaveLength(6);
    expect(nodes.effects).toHaveLength(6);
    await using others = await start({ rate: { tools: { echo: '50/h' } } });
    const all = await Promise.all(Array.from({ length: 150 }, (_, n) => call(others.urls[n % 3]!, 'echo')));
    expect(all.filter((one) => one === 'done')).toHaveLength(50);
    expect(new Set(all)).toEqual(new Set(['done', -32000]));
  });

  it('a request that one rate refuses uses up nothing of another one, at any gateway', async () => {
    await using nodes = await start({ rate: { perServer: '12/h', tools: { send: '3/h' } } });
    const sends = await calls(nodes, 'send', 9);
    expect(sends.filter((one) => one === 'done')).toHaveLength(3);
    const echoes = await calls(nodes, 'echo', 12);
    expect(echoes.filter((one) => one === 'done')).toHaveLength(9);
  });

  it('while the state does not answer, each gateway counts for itself, or refuses if the rate says so', async () => {
    await using counting = await start({ rate: { perCaller: '2/h' } });
    await using refusing = await start({ rate: { perCaller: '60/h', whenDown: 'deny' } });
    const goOn = redis.halt();
    try {
      const [counted, refused] = await Promise.all([calls(counting, 'echo', 9), calls(refusing, 'echo', 3)]);
      expect(counted.filter((one) => one === 'done')).toHaveLength(6);
      expect(refused).toEqual(Array(3).fill(-32603));
    } finally {
      goOn();
    }
    await until('the gateways to go on', async () => (await call(refusing.urls[0]!, 'echo')) === 'done');
  });
});
