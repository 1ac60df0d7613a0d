// Interactive tools behind the gateway, played by clients that speak MCP Flow: every wire before it and behind it, real processes.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Gateway, GatewayOptions, Step } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';
import { prefix } from 'mcp-parley/middleware';
import type { FlowClient, FlowClientOptions } from 'mcp-parley/flow';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { within } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await within('closing', close());
});

async function flows(transport: 'stdio' | 'http' | 'ws') {
  if (transport === 'stdio') return fixture('flow-tools', ['--stdio']);
  const http = await startHttp(fixture('flow-tools', ['--port', '0']));
  open.push(() => http.stop());
  return transport === 'http' ? http.url : `ws://127.0.0.1:${http.port}/ws`;
}

async function serving(options: GatewayOptions): Promise<{ gateway: Gateway; url: string; ws: string; port: number }> {
  const gateway = createGateway({ log: QUIET, startMs: 60_000, ...options });
  open.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const { port } = new URL(url);
  return { gateway, url, ws: `ws://127.0.0.1:${port}/ws`, port: Number(port) };
}

async function connected(url: string, options: FlowClientOptions = {}): Promise<FlowClient> {
  const client = await within('connect', connectFlows(url, { log: QUIET, ...options }));
  open.push(() => client.close());
  return client;
}

function answering(answers: Record<string, unknown>, asked: string[] = []) {
  return {
    onPrompt({ message }: { message: string }) {
      asked.push(message);
      return answers[message];
    },
  };
}

const ANSWERS = { 'Where to?': 'Oslo', 'How long?': 3, 'Your name?': 'Ada' };

describe.each(['stdio', 'http', 'ws'] as const)('a server on %s', (behind) => {
  test.each(['http', 'ws'] as const)('played by a client on %s', async (before) => {
    const gateway = await serving({ servers: { flows: await flows(behind) } });
    const client = await connected(before === 'http' ? gateway.url : gateway.ws);
    const asked: string[] = [];
    const outcome = await within('the flow', client.run('book', {}, answering(ANSWERS, asked)));
    expect(outcome).toMatchObject({ success: true, interactive: true, result: { city: 'Oslo', days: 3 } });
    expect(asked).toEqual(['Where to?', 'How long?']);
  });

  test('played by a client of the stateless era, and by one of both eras behind', async () => {
    const server = await flows(behind);
    const revisions = behind === 'stdio' ? ['2025-11-25'] : ['2025-11-25', '2026-07-28'];
    for (const revision of behind === 'ws' ? ['2025-11-25'] : revisions) {
      const gateway = await serving({ servers: { flows: { server, revision } } });
      for (const ours of ['2026-07-28', '2025-06-18']) {
        const client = await connected(gateway.url, { revision: ours });
        const outcome = await within('the flow', client.run('book', {}, answering(ANSWERS)));
        expect(outcome).toMatchObject({ success: true, interactive: true, result: { city: 'Oslo', days: 3 } });
      }
    }
  });
});

test('names are mapped both ways, by prefixes of servers and by steps', async () => {
  const server = await flows('http');
  const gateway = await serving({ servers: { one: server, two: server }, names: 'always', steps: [prefix('my_')] });
  const client = await connected(gateway.ws);
  const names = (await client.client.listTools()).map(({ name }) => name);
  expect(names).toContain('my_two__book');
  const outcome = await client.run('my_two__book', { city: 'Rome' }, answering(ANSWERS));
  expect(outcome.result).toEqual({ city: 'Rome', days: 3 });
  const { sessionId } = await client.client.request('interaction.start', { toolName: 'my_one__greet' });
  const state = await client.client.request('interaction.getState', { sessionId });
  expect(state).toMatchObject({ sessionId, metadata: { toolName: 'my_one__greet' }, state: 'waiting_user' });
});

test('a session is its client’s own: to another it is one that never was', async () => {
  const gateway = await serving({ servers: { flows: await flows('stdio') } });
  const [{ wire: mine }, { wire: other }] = [await socketWire(gateway.port), await socketWire(gateway.port)];
  await Promise.all([mine.initialize(), other.initialize()]);
  const started = await mine.request('interaction.start', { toolName: 'book' });
  const { sessionId } = started.result as { sessionId: string };
  expect(sessionId).toMatch(/^session_[\w-]{40,}$/);
  expect(started.result).toMatchObject({ state: 'idle', initialPrompt: { message: 'Where to?' } });
  const stolen = await other.request('interaction.respond', { sessionId, response: { value: 'Eve' } });
  const unknown = await other.request('interaction.respond', { sessionId: 'session_x', response: { value: 'Eve' } });
  expect(stolen.error).toEqual({
    ...unknown.error!,
    message: unknown.error!.message.replace('session_x', sessionId),
    data: { sessionId },
  });
  expect(unknown.error).toMatchObject({ code: -32001, data: { sessionId: 'session_x' } });
  expect(other.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  const answered = await mine.request('interaction.respond', { sessionId, response: { value: 'Oslo' } });
  expect(answered.result).toMatchObject({ accepted: true });
  const asked = await mine.find('its prompt', ({ method }) => method === 'interaction.prompt');
  expect(asked.params).toMatchObject({ sessionId, prompt: { message: 'How long?' } });
  expect(mine.messages.indexOf(asked)).toBeGreaterThan(mine.messages.indexOf(answered));
  await mine.request('interaction.respond', { sessionId, response: { value: 3 } });
  const complete = await mine.find('its end', ({ method }) => method === 'interaction.complete');
  expect(complete.params).toMatchObject({ sessionId, result: { success: true, data: { city: 'Oslo', days: 3 } } });
  expect(other.messages.filter(({ method }) => method !== undefined)).toEqual([]);
});

test('messages about a session pass the steps, and so do its requests', async () => {
  const seen: string[] = [];
  const spy: Step = {
    name: 'spy',
    handle(exchange, next) {
      seen.push(exchange.method);
      return next();
    },
    onAsk(ask, next) {
      seen.push(`told ${ask.method}`);
      return next(ask);
    },
  };
  const gateway = await serving({ servers: { flows: await flows('stdio') }, steps: [spy] });
  const client = await connected(gateway.ws, { revision: '2025-11-25' });
  await client.run('book', {}, answering(ANSWERS));
  expect(seen.filter((one) => one.includes('interaction') || one === 'capabilities')).toEqual([
    'capabilities',
    'interaction.start',
    'interaction.respond',
    'told interaction.prompt',
    'interaction.respond',
    'told interaction.complete',
  ]);
});
