import { expect, test } from 'vitest';
import { rename } from '../gateway/features/names/rename.ts';
import { onCall } from '../gateway/chain/to-step.ts';
import { respond } from '../gateway/chain/outcome.ts';
import { ALL_REVISIONS } from '../mcp/eras/revisions.ts';
import type { StepFunction } from '../kernel/step.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { memoryPair } from './memory-pair.ts';
import { testGateway, testServer, testStep } from './test-gateway.ts';

function circle(): object {
  const round: { self?: object } = {};
  round.self = round;
  return round;
}

const shout: StepFunction = async (exchange, next) => {
  const { name, arguments: args } = exchange.params as { name?: string; arguments?: { text: string } };
  if (name === 'echo') exchange.params = { name, arguments: { text: args!.text.toUpperCase() } };
  return next();
};

test('a step is tested in three lines', async () => {
  await using tested = await testStep(shout);
  const { content } = await tested.client.callTool('echo', { text: 'hello' });
  expect(content).toEqual([{ type: 'text', text: 'HELLO' }]);
});

test('what came through the step is told, as it left it', async () => {
  await using tested = await testStep([rename({ tools: { echo: 'say' } }), shout]);
  await tested.client.callTool('say', { text: 'hello' });
  expect(tested.reached.at(-1)).toEqual({
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'HELLO' } },
  });
});

test.each([
  ['a BigInt', 1n],
  ['a circle', circle()],
])('a result with %s is an error for the client, which waits no longer', async (_, value) => {
  await using tested = await testStep(onCall(() => respond({ content: [], value })));
  await expect(tested.client.callTool('echo', { text: 'x' })).rejects.toMatchObject({ message: 'Internal error' });
});

test('a step that answers itself lets nothing through', async () => {
  await using tested = await testStep((exchange, next) =>
    exchange.method === 'tools/call' ? respond({ content: [] }) : next(),
  );
  expect(await tested.client.callTool('echo')).toMatchObject({ content: [] });
  expect(tested.reached).toEqual([]);
});

test.each(ALL_REVISIONS)('everything of the sample server travels: %s', async (revision) => {
  const asked: string[] = [];
  await using tested = await testStep([], {
    revision,
    onElicit: ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { answer: 'fine' } };
    },
  });
  const { client } = tested;
  expect(client.server.revision).toBe(revision === 'draft' ? '2025-06-18' : revision);
  const progress: number[] = [];
  await client.callTool('count', { to: 2 }, { onProgress: (step) => progress.push(step.progress) });
  expect(progress.length > 0 || revision === 'draft').toBe(true);
  expect((await client.callTool('fail', { text: 'No' })).isError).toBe(true);
  const canBeAsked = !['2024-11-05', '2025-03-26', 'draft'].includes(revision);
  const { content } = await client.callTool('ask', { text: 'How are you?' });
  expect(asked).toEqual(canBeAsked ? ['How are you?'] : []);
  if (canBeAsked) expect(content).toEqual([{ type: 'text', text: 'fine' }]);
});

test('a gateway, its servers and several clients need no port and leave nothing behind', async () => {
  const trips = createServer({ name: 'trips', version: '1.0.0' });
  trips.tool('quote', {}, () => 'cheap');
  const tested = await testGateway({ servers: { trips } }, { revision: '2025-06-18' });
  const other = await tested.connect({ revision: '2026-07-28' });
  expect([tested.client.server.revision, other.server.revision]).toEqual(['2025-06-18', '2026-07-28']);
  expect((await other.listTools()).map(({ name }) => name)).toEqual(['quote']);
  expect(tested.gateway.servers.map(({ name }) => name)).toEqual(['trips']);
  await tested.close();
  await expect(other.callTool('quote')).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
});

test('what the gateway logs is kept for the test', async () => {
  await using tested = await testStep(() => {
    throw new TypeError('oops');
  });
  await expect(tested.client.callTool('echo')).rejects.toThrow();
  expect(tested.logged.map(({ event }) => event)).toContain('exchange.failed');
});

test('a client that cannot connect leaves no gateway behind, and says why', async () => {
  const server = createServer({ name: 'x', version: '1' });
  const refused = testGateway({ servers: { server }, revisions: ['2025-06-18'] }, { revision: '2024-11-05' });
  await expect(refused).rejects.toMatchObject({ code: 'NO_COMMON_VERSION' });
});

test('a server alone can be tested again and again', async () => {
  const server = createServer({ name: 'x', version: '1' });
  server.tool('hi', {}, (_, call) => call.client.revision);
  for (const revision of ['2024-11-05', '2026-07-28']) {
    await using tested = await testServer(server, { revision });
    expect(await tested.client.callTool('hi')).toMatchObject({ content: [{ text: revision }] });
  }
});

test('messages in memory are those of a wire: copied, in order, and none before the other side listens', async () => {
  const [one, other] = memoryPair();
  const got: unknown[] = [];
  other.onmessage = (message) => got.push(message);
  await one.start();
  const params = { list: [1], gone: undefined };
  await one.send({ jsonrpc: '2.0', method: 'a', params });
  await one.send({ jsonrpc: '2.0', method: 'b' });
  params.list.push(2);
  expect(got).toEqual([]);
  await other.start();
  expect(got).toEqual([
    { jsonrpc: '2.0', method: 'a', params: { list: [1] } },
    { jsonrpc: '2.0', method: 'b' },
  ]);
  expect(Object.keys((got[0] as { params: object }).params)).toEqual(['list']);
});

test('closing one end closes the other, once, and nothing can be sent any more', async () => {
  const [one, other] = memoryPair();
  const closed: string[] = [];
  one.onclose = () => closed.push('one');
  other.onclose = () => closed.push('other');
  await Promise.all([one.start(), other.start()]);
  await one.close();
  await other.close();
  expect(closed.toSorted()).toEqual(['one', 'other']);
  await expect(other.send({ jsonrpc: '2.0', method: 'a' })).rejects.toThrow('closed');
  await expect(one.start()).rejects.toThrow('once');
});
