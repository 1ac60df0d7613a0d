// A server that says when to come back: its words reach the caller, it is left alone until then, and other servers and callers are not touched.
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { GatewayOptions } from 'mcp-parley';
import { retry } from 'mcp-parley/middleware';
import { FakeClock } from '../../src/kernel/fake-exchange.contract.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { serving, well } from '../helpers/moody.ts';
import { until } from '../helpers/until.ts';

type Mood = 'well' | '429' | '503' | '429 for a day' | 'error';

/** A small server by hand, which counts what it gets. */
async function limited() {
  const state = { mood: 'well' as Mood, calls: [] as string[], gets: [] as number[] };
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      state.gets.push(performance.now());
      return void response.writeHead(429, { 'retry-after': '1' }).end();
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body || '{}') as {
      id?: number;
      method: string;
      params: { name: string };
    };
    if (id === undefined) return void response.writeHead(202).end();
    const answer = (result: object) => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...result }));
    };
    if (method === 'server/discover') return answer({ error: { code: -32601, message: 'Method not found' } });
    if (method === 'initialize') {
      const serverInfo = { name: 'limited', version: '1' };
      return answer({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
    }
    const tools = ['read', 'write'].map((name) => ({
      name,
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: name === 'read' },
    }));
    if (method === 'tools/list') return answer({ result: { tools } });
    state.calls.push(params.name);
    if (state.mood === '429') return void response.writeHead(429, { 'retry-after': '2' }).end();
    if (state.mood === '503') return void response.writeHead(503, { 'retry-after': '2' }).end('<h1>busy</h1>');
    if (state.mood === '429 for a day') return void response.writeHead(429, { 'retry-after': '86400' }).end();
    if (state.mood === 'error') {
      return answer({ error: { code: -32000, message: 'Too many of those', data: { retryAfterMs: 1500, mine: 1 } } });
    }
    return answer({ result: { content: [{ type: 'text', text: 'done' }] } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, [Symbol.asyncDispose]: close };
}

const gatewayTo = (url: string, more: Partial<GatewayOptions> = {}) =>
  serving({ servers: { limited: url, other: well('other') }, startMs: 60_000, ...more });

const call = (url: string, name: string, from = '127.0.0.1') =>
  send(url, { ...modern('tools/call', { name, arguments: { text: 'x' } }), from });

describe.each<[Mood]>([['429'], ['503']])('a server that answers %s with Retry-After', (mood) => {
  test('is not called until then, and every caller is told how long that is', async () => {
    await using server = await limited();
    const clock = new FakeClock();
    await using gateway = await gatewayTo(server.url, { clock });
    expect((await call(gateway.url, 'limited__read')).json.result).toBeDefined();
    server.state.mood = mood;
    const first = await call(gateway.url, 'limited__read');
    expect(first.json.error).toMatchObject({ code: -32000, data: { retryAfterMs: 2000 } });
    expect(server.state.calls).toHaveLength(2);
    await clock.advance(500);
    for (const name of ['limited__read', 'limited__write']) {
      const { error } = (await call(gateway.url, name, '127.0.0.2')).json;
      expect(error).toMatchObject({ code: -32000, data: { retryAfterMs: 1500 } });
      expect(error!.message).toContain('limited is too busy: it has asked not to be called');
    }
    expect(server.state.calls).toHaveLength(2);
    expect(await textOf(await gateway.client(), 'other__other_echo', { text: 'x' })).toContain('x');
    server.state.mood = 'well';
    await clock.advance(1500);
    expect((await call(gateway.url, 'limited__read')).json.result).toBeDefined();
  });
});

test('a server that wants to be left alone for a day is tried again after five minutes', async () => {
  await using server = await limited();
  const clock = new FakeClock();
  await using gateway = await gatewayTo(server.url, { clock });
  await call(gateway.url, 'limited__read');
  server.state.mood = '429 for a day';
  await call(gateway.url, 'limited__read');
  const { error } = (await call(gateway.url, 'limited__read')).json;
  expect(error).toMatchObject({ data: { retryAfterMs: 86_400_000 } });
  server.state.mood = 'well';
  await clock.advance(5 * 60_000);
  expect((await call(gateway.url, 'limited__read')).json.result).toBeDefined();
});

test('an error that says when to come back passes unchanged, and is about this caller and this tool', async () => {
  await using server = await limited();
  const clock = new FakeClock();
  await using gateway = await gatewayTo(server.url, { clock });
  await call(gateway.url, 'limited__read');
  server.state.mood = 'error';
  const { error } = (await call(gateway.url, 'limited__read')).json;
  expect(error).toEqual({ code: -32000, message: 'Too many of those', data: { retryAfterMs: 1500, mine: 1 } });
  server.state.mood = 'well';
  expect((await call(gateway.url, 'limited__read')).json.error).toMatchObject({
    code: -32000,
    data: { retryAfterMs: 1500 },
  });
  expect(server.state.calls).toHaveLength(2);
  expect((await call(gateway.url, 'limited__write')).json.result).toBeDefined();
  expect((await call(gateway.url, 'limited__read', '127.0.0.2')).json.result).toBeDefined();
  await clock.advance(1500);
  expect((await call(gateway.url, 'limited__read')).json.result).toBeDefined();
});

test('the step "retry" waits as long as the server wants, and then calls once', async () => {
  await using server = await limited();
  const clock = new FakeClock();
  await using gateway = await gatewayTo(server.url, { clock, steps: [retry({ clock, delayMs: 1 })] });
  await call(gateway.url, 'limited__read');
  server.state.mood = '429';
  const waiting = call(gateway.url, 'limited__read');
  await until('the refusal', () => server.state.calls.length === 2);
  const second = call(gateway.url, 'limited__read', '127.0.0.2');
  await until('both to wait', () => clock.timers >= 2);
  server.state.mood = 'well';
  await clock.advance(1999);
  expect(server.state.calls).toHaveLength(2);
  await until('both to be done', async () => {
    await clock.advance(10);
    return server.state.calls.length === 4;
  });
  for (const one of [waiting, second]) expect((await one).json.result).toBeDefined();
});

test('a listening stream that is refused comes back when it may, and not before', async () => {
  await using server = await limited();
  await using gateway = await gatewayTo(server.url);
  const client = await gateway.client();
  await client.listTools();
  await until('the second try', () => server.state.gets.length >= 2);
  const [first, second] = server.state.gets;
  expect(second! - first!).toBeGreaterThan(900);
});
