// Servers and clients of MCP Flow that keep no manners: what they do costs them alone, and reaches nobody else.
import { expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { connectFlows, flow, serveFlows } from 'mcp-parley/flow';
import { connected, fixture } from '../helpers/fixture-server.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { until, within } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });

async function serving(name: string) {
  const gateway = createGateway({ servers: { flow: fixture(name) }, log: QUIET, startMs: 60_000 });
  const { url } = await gateway.listen({ port: 0 });
  return { gateway, url, port: Number(new URL(url).port) };
}

test('a server that prompts whom and how it likes is understood where it makes sense', async () => {
  const { gateway, url, port } = await serving('flow-rude');
  const { wire: bystander, socket } = await socketWire(port);
  await bystander.initialize();
  await using client = await connectFlows(url, { log: QUIET, revision: '2025-11-25' });
  const outcome = await within('the flow', client.run('greet', {}, { onPrompt: () => 'Ada' }));
  expect(outcome).toMatchObject({ success: true, result: { text: 'Hello Ada' } });
  await using caller = await connected(url, {
    revision: '2025-11-25',
    onElicit: () => ({ action: 'accept', content: { answer: 'Bob' } }),
  });
  expect(await within('the call', caller.callTool('greet', {}))).toMatchObject({
    structuredContent: { text: 'Hello Bob' },
  });
  expect(bystander.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  socket.close();
  await gateway.close();
});

test('processes that give the same ids do not mix up their clients', async () => {
  const { gateway, url } = await serving('flow-rude');
  const names = ['Ada', 'Bob', 'Cleo', 'Dan'];
  const results = await Promise.all(
    names.map(async (name) => {
      await using client = await connected(url, {
        revision: '2025-11-25',
        onElicit: () => ({ action: 'accept', content: { answer: name } }),
      });
      return (await within('the call', client.callTool('greet', {}))).structuredContent;
    }),
  );
  expect(results).toEqual(names.map((name) => ({ text: `Hello ${name}` })));
  await gateway.close();
});

test('a client that answers twice, or nonsense, or for others, does no harm', async () => {
  const { gateway, port } = await serving('flow-only');
  const { wire, socket } = await socketWire(port);
  await wire.initialize();
  const ask = async (method: string, params: object) => (await wire.request(method, params as never)).error?.code;
  expect(await ask('interaction.start', {})).toBe(-32602);
  expect(await ask('interaction.start', { toolName: 7 })).toBe(-32602);
  expect(await ask('interaction.start', { toolName: 'nothing' })).toBe(-32602);
  expect(await ask('interaction.respond', {})).toBe(-32602);
  expect(await ask('interaction.respond', { sessionId: { a: 1 } })).toBe(-32602);
  expect(await ask('interaction.getState', { sessionId: 'session_' })).toBe(-32001);
  const { result } = await wire.request('interaction.start', { toolName: 'greet' });
  const { sessionId } = result as { sessionId: string };
  await wire.find('a prompt', ({ method }) => method === 'interaction.prompt');
  const tampered = `${sessionId.slice(0, -1)}${sessionId.endsWith('A') ? 'B' : 'A'}`;
  expect(await ask('interaction.cancel', { sessionId: tampered })).toBe(-32001);
  const response = { value: 'Ada' };
  expect(await ask('interaction.respond', { sessionId, response })).toBeUndefined();
  await wire.find('the end', ({ method }) => method === 'interaction.complete');
  expect(await ask('interaction.respond', { sessionId, response })).toBe(-32003);
  socket.close();
  await gateway.close();
});

test('a client that is gone leaves no session behind', async () => {
  const { gateway, url, port } = await serving('flow-only');
  const { wire, socket } = await socketWire(port);
  await wire.initialize();
  await wire.request('interaction.start', { toolName: 'greet' });
  await using other = await connected(url, { revision: '2025-11-25' });
  const open = async () => ((await other.callTool('open', {})).content[0] as { text: string }).text;
  expect(await open()).toBe('1');
  socket.terminate();
  await until('its session to end', async () => (await open()) === '0');
  await gateway.close();
});

test('a client whose names are as long as a message is not sent them back', async () => {
  const server = createServer({ name: 'trips', version: '1', log: QUIET });
  serveFlows(server, [flow({ name: 'trip' }, (ask) => ask.text('city'))]);
  const { url } = await server.listen({ port: 0 });
  const { wire, socket } = await socketWire(Number(new URL(url).port));
  await wire.initialize();
  const long = 'k'.repeat(100_000);
  const { sessionId } = (await wire.request('interaction.start', { toolName: 'trip' })).result as { sessionId: string };
  const requests: [string, Json][] = [
    ['interaction.edit', { sessionId, key: long, value: 1 }],
    ['interaction.back', { sessionId, key: long }],
    ['interaction.respond', { sessionId, promptId: long, response: { value: 1 } }],
    ['interaction.handOver', { sessionId, promptId: long, to: 'ada' }],
    ['interaction.handOver', { sessionId, promptId: 'city', to: long }],
    ['interaction.getState', { sessionId: long }],
    ['interaction.start', { toolName: long }],
    ['interaction.start', { toolName: 'trip', _meta: { 'mcp-parley/start-id': long } }],
    ['tools/call', { name: long }],
    ['resources/read', { uri: `file:///${long}` }],
    ['prompts/get', { name: long }],
    [long, {}],
  ];
  for (const [method, params] of requests) {
    const { error } = await wire.request(method, params);
    expect(error?.message, method).toBeTypeOf('string');
    expect(JSON.stringify(error).length, `the answer to ${method.slice(0, 40)}`).toBeLessThan(5000);
  }
  const { error } = await wire.request('interaction.edit', { sessionId, key: long, value: 1 });
  expect(error!.message).toContain(`${'k'.repeat(200)}… has not been answered`);
  socket.close();
  await server.close();
});
