// What people have said and done at one of several gateways counts at the others. With a real redis-server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, GatewayOptions } from 'mcp-parley';
import { approve } from 'mcp-parley/middleware';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startTogether } from '../helpers/together.ts';
import type { Together } from '../helpers/together.ts';
import { hasTool } from '../helpers/tools.ts';

const ADA = 'the-key-of-ada-which-is-long';
const BOB = 'the-key-of-bob-which-is-long';
const AUTH: GatewayOptions['auth'] = {
  keys: [
    { name: 'ada', key: ADA },
    { name: 'bob', key: BOB },
  ],
};

describe.skipIf(!hasTool('redis-server'))('three gateways with one state', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  const approving = (remember: NonNullable<Parameters<typeof approve>[0]>['remember']): Promise<Together> =>
    startTogether(redis, 3, () => ({
      auth: AUTH,
      ask: { trust: 'all' },
      steps: [approve({ when: 'always', remember })],
    }));

  /** A client at one of the gateways, and what it is asked. */
  async function asking(url: string, key: string) {
    const asked: string[] = [];
    const onElicit = ({ message }: { message: string }) => {
      asked.push(message);
      return { action: 'accept' as const, content: { approve: true } };
    };
    const client = await connected({ url, headers: { authorization: `Bearer ${key}` } }, { onElicit });
    return { client, asked, [Symbol.asyncDispose]: (): Promise<void> => client.close() };
  }

  const call = (client: Client, args = {}): Promise<string> => textOf(client, 'one__echo', args);

  it('a yes that is remembered holds at every gateway, for the same caller and arguments', async () => {
    await using nodes = await approving({ ms: 600_000 });
    await using first = await asking(nodes.urls[0]!, ADA);
    await using second = await asking(nodes.urls[1]!, ADA);
    await using other = await asking(nodes.urls[2]!, BOB);
    expect(await call(first.client, { a: 1 })).toBe('done: echo');
    expect(await call(second.client, { a: 1 })).toBe('done: echo');
    expect([first.asked.length, second.asked.length]).toEqual([1, 0]);
    await call(second.client, { a: 2 });
    await call(other.client, { a: 1 });
    expect([second.asked.length, other.asked.length]).toEqual([1, 1]);
  });

  it('a yes that is not to be remembered holds nowhere else', async () => {
    await using nodes = await approving(undefined);
    await using first = await asking(nodes.urls[0]!, ADA);
    await using second = await asking(nodes.urls[1]!, ADA);
    await call(first.client);
    await call(second.client);
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });

  it('while the state does not answer, people are asked instead of taking an earlier yes for granted', async () => {
    await using nodes = await approving({ ms: 600_000, per: 'tool' });
    await using first = await asking(nodes.urls[0]!, ADA);
    await using second = await asking(nodes.urls[1]!, ADA);
    await call(first.client);
    const goOn = redis.halt();
    try {
      expect(await call(second.client)).toBe('done: echo');
    } finally {
      goOn();
    }
    expect(second.asked).toHaveLength(1);
  });
});
