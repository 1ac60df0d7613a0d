// An update of a gateway of which one part cannot be: nothing of the rest is done.
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../kernel/base/log.ts';
import type { Step } from '../kernel/step.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { testGateway } from '../testing/test-gateway.ts';
import type { TestedGateway } from '../testing/test-gateway.ts';
import type { GatewayOptions } from './gateway.ts';
import type { GatewayChanges } from './gateway-options.ts';

const log = createLog({ level: 'silent' });
const closing: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(closing.splice(0).map((one) => one.close())));

function speaking(name: string) {
  const server = createServer({ name, version: '1', log });
  server.tool('hello', {}, () => `hello of ${name}`);
  server.tool('bye', {}, () => `bye of ${name}`);
  return server;
}

const unable: Step = {
  name: 'unable',
  handle: (_exchange, next) => next(),
  start() {
    throw new Error('no disk');
  },
};

const [one, two, three] = ['one', 'two', 'three'].map(speaking);
const before = {
  servers: { one: one!, two: two! },
  groups: { pair: ['one', 'two'] },
  names: 'always',
  rules: [{ tool: 'bye', effect: 'deny' }],
  rate: { tools: { hello: '2/day' } },
  roots: [{ uri: 'file:///before' }],
} satisfies Partial<GatewayOptions>;
const others = {
  servers: { two: two!, three: three! },
  groups: { other: ['three'] },
  names: 'on-collision',
  rules: [{ tool: 'hello', effect: 'deny' }],
  rate: { perCaller: '1/day' },
  roots: [{ uri: 'file:///after' }],
} satisfies GatewayChanges;

const REFUSED: [string, GatewayChanges][] = [
  ['an unreadable rate of callers', { rate: { perCaller: 'often' } }],
  ['an unreadable rate of servers', { rate: { perServer: 'often' } }],
  ['an unreadable rate of a tool', { rate: { tools: { hello: 'often' } } }],
  ['a server with an unreadable rate', { servers: { three: { server: three!, rate: { perServer: 'often' } } } }],
  [
    'unreadable rules for the tools of a server',
    { servers: { two: { server: two!, tools: { deny: 'x' as never } }, three: three! } },
  ],
  ['a server of which no address is known', { servers: { three: { server: undefined as never } } }],
  ['a word of ask.trust that means nothing', { ask: { trust: ['key:'] } }],
  ['a login where there was none', { auth: { keys: [] } }],
  ['a root with another scheme', { roots: [{ uri: 'https://example.com' }] }],
  ['a step that cannot be started', { steps: [unable] }],
];

describe('an update of a gateway with something that cannot be', () => {
  async function running(): Promise<TestedGateway & { closed: string[] }> {
    const closed: string[] = [];
    const step: Step = { name: 'kept', handle: (_exchange, next) => next(), close: () => void closed.push('kept') };
    const tested = await testGateway({ ...before, steps: [step] });
    closing.push(tested);
    return { ...tested, closed };
  }

  it.each(REFUSED)('changes nothing because of %s', async (_what, refused) => {
    const { gateway, client, closed } = await running();
    expect(await client.callTool('one__hello')).toMatchObject({ content: [{ text: 'hello of one' }] });

    expect(() => gateway.update({ ...others, ...refused })).toThrow();

    expect((await client.listTools()).map(({ name }) => name)).toEqual(['one__hello', 'two__hello']);
    expect(gateway.servers.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(gateway.groups).toEqual(before.groups);
    expect(closed).toEqual([]);
    await expect(client.callTool('one__bye')).rejects.toThrow('Unknown tool');
    // What was counted before still counts.
    expect(await client.callTool('one__hello')).toMatchObject({ content: [{ text: 'hello of one' }] });
    await expect(client.callTool('one__hello')).rejects.toThrow('2/day');
    await expect(client.callTool('three__hello')).rejects.toThrow('Unknown tool');
  });

  it('lets the next update through that is whole', async () => {
    const { gateway, client } = await running();
    expect(() => gateway.update({ ...others, rate: { perServer: 'often' } })).toThrow('60/min');
    gateway.update({ ...others, rate: {} });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['bye', 'three__bye']);
    expect(gateway.groups).toEqual(others.groups);
  });
});
