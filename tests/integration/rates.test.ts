// Callers who call too often: each caller, server and tool has its own allowance, and what a caller can have many of (sessions, paths,
// spellings, eras, connections) gives it no more.
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { once } from 'node:events';
import { createGateway } from 'mcp-parley';
import type { GatewayOptions } from 'mcp-parley';
import { retry } from 'mcp-parley/middleware';
import { ChangingServer } from '../helpers/changing-server.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import type { Reply } from '../helpers/http-wire.ts';
import { modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { serving, well } from '../helpers/moody.ts';
import { within } from '../helpers/until.ts';

const servers = () => ({ one: well('one'), two: well('two') });
const withRate = (rate: GatewayOptions['rate'], more: Partial<GatewayOptions> = {}) =>
  serving({ servers: servers(), startMs: 60_000, rate, ...more });

/** By a stateless client. */
function callFrom(from: string, url: string, name = 'one__one_echo', headers: Record<string, string> = {}) {
  const request = modern('tools/call', { name, arguments: { text: 'hello' } });
  return send(url, { ...request, headers: { ...request.headers, ...headers }, from });
}

const isRefused = ({ json }: Reply) => json.error?.code === -32000;
const refusals = (replies: Reply[]) => replies.filter(isRefused).length;

async function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (let n = 0; n < count; n++) done.push(await work());
  return done;
}

describe('a caller', () => {
  test('who calls too often is told how long to wait, with 429, and others continue', async () => {
    await using gateway = await withRate({ perCaller: '3/h' });
    const replies = await times(5, () => callFrom('127.0.0.2', gateway.url));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    const { error } = replies[3]!.json;
    const data = error!.data as { limit: string; retryAfterMs: number };
    expect({ code: error!.code, limit: data.limit }).toEqual({ code: -32000, limit: 'rate.perCaller' });
    expect(error!.message).toContain('this gateway allows 3/h');
    expect(data.retryAfterMs).toBeGreaterThan(1_100_000);
    expect(data.retryAfterMs).toBeLessThanOrEqual(1_200_000);
    expect(Number(replies[3]!.headers['retry-after'])).toBe(Math.ceil(data.retryAfterMs / 1000));
    expect(isRefused(await callFrom('127.0.0.3', gateway.url))).toBe(false);
  });

  test('gets other rates while connected when the options change, and a rate that cannot be read changes nothing', async () => {
    await using gateway = await withRate({ perCaller: '1/h' });
    const session = await openSession(gateway.url);
    const call = () => session.call('one__one_echo', { text: 'x' });
    expect(refusals(await times(2, call))).toBe(1);
    gateway.gateway.update({ rate: { tools: { one_echo: '2/h' } } });
    expect(refusals(await times(3, call))).toBe(1);
    expect(() => gateway.gateway.update({ rate: { perCaller: 'often' } })).toThrow('rate.perCaller');
    expect(refusals(await times(2, call))).toBe(2);
    gateway.gateway.update({ rate: {} });
    expect(refusals(await times(3, call))).toBe(0);
  });

  test('is counted when a rate refuses it, in a metric by the rate, which goes on when rates change', async () => {
    await using gateway = await withRate({ perCaller: '1/h' }, { observe: { metrics: true } });
    const metrics = async () => (await (await fetch(gateway.url.replace(/mcp$/, 'metrics'))).text()).split('\n');
    const refused = async () => (await metrics()).filter((line) => line.startsWith('parley_rate_refusals_total'));
    expect(await refused()).toEqual([]);
    await times(3, () => callFrom('127.0.0.2', gateway.url));
    expect(await refused()).toEqual(['parley_rate_refusals_total{limit="rate.perCaller"} 2']);
    gateway.gateway.update({ rate: { tools: { 'one*': '1/h' } } });
    await times(2, () => callFrom('127.0.0.2', gateway.url));
    expect(await refused()).toEqual([
      'parley_rate_refusals_total{limit="rate.perCaller"} 2',
      'parley_rate_refusals_total{limit="rate.tools.one*"} 1',
    ]);
  });

  test('gets no further allowance by new sessions, other paths, the other era or a WebSocket', async () => {
    await using gateway = await withRate({ perCaller: '6/h' });
    const { url } = gateway;
    for (const path of ['', '/one', '/two']) {
      const session = await openSession(url + path);
      const name = path === '' ? 'one__one_echo' : `${path.slice(1)}_echo`;
      expect(isRefused(await session.call(name, { text: 'x' }))).toBe(false);
      expect(isRefused(await callFrom('127.0.0.1', url + path, name))).toBe(false);
    }
    const session = await openSession(url);
    const reply = await session.call('one__one_echo', { text: 'x' });
    expect([reply.status, reply.headers['retry-after'] === undefined]).toEqual([429, false]);
    expect(isRefused(await callFrom('127.0.0.1', url))).toBe(true);
    const socket = new WebSocket(url.replace('http', 'ws').replace('/mcp', '/ws'));
    await within('the socket', once(socket, 'open'));
    socket.send(JSON.stringify(modern('tools/call', { name: 'one__one_echo', arguments: {} }).body));
    const [data] = (await within('an answer', once(socket, 'message'))) as [Buffer];
    expect(JSON.parse(String(data))).toMatchObject({ error: { code: -32000, data: { limit: 'rate.perCaller' } } });
    socket.close();
  });

  test('is its login, from every address', async () => {
    const identify = ({ headers }: { headers: Record<string, unknown> }) =>
      (headers['x-user'] as string | undefined) ?? null;
    await using gateway = await withRate({ perCaller: '2/h' }, { identify });
    const by = (user: string, from: string) => callFrom(from, gateway.url, 'one__one_echo', { 'x-user': user });
    expect(refusals([await by('ann', '127.0.0.2'), await by('ann', '127.0.0.3')])).toBe(0);
    expect(isRefused(await by('ann', '127.0.0.4'))).toBe(true);
    expect(isRefused(await by('bob', '127.0.0.2'))).toBe(false);
  });

  test('does not use up its allowance by pings or by looking after a task, but by calls that a tool refuses', async () => {
    await using gateway = await withRate({ perCaller: '2/h', tools: { one_echo: '1/h' } });
    const session = await openSession(gateway.url);
    await times(5, () => session.request('ping'));
    await times(5, () => session.request('tasks/list'));
    expect(isRefused(await session.call('one__one_echo', { text: 'x' }))).toBe(false);
    expect(isRefused(await session.call('one__one_echo', { text: 'x' }))).toBe(true);
    expect(isRefused(await session.call('two__two_echo', { text: 'x' }))).toBe(true);
  });
});

describe('a tool', () => {
  test('has its own rate for each caller, by every name and path', async () => {
    await using gateway = await withRate({ tools: { 'one__*': '2/h' } });
    const { url } = gateway;
    expect(isRefused(await callFrom('127.0.0.2', url))).toBe(false);
    expect(isRefused(await callFrom('127.0.0.2', `${url}/one`, 'one_echo'))).toBe(false);
    for (const [path, name] of [
      ['', 'one__one_echo'],
      ['/one', 'one_echo'],
      ['', 'one__one_pid'],
    ]) {
      const reply = await callFrom('127.0.0.2', url + path, name);
      expect(reply.json.error).toMatchObject({ code: -32000, data: { limit: 'rate.tools.one__*' } });
      expect(reply.status).toBe(429);
    }
    expect(isRefused(await callFrom('127.0.0.2', url, 'two__two_echo'))).toBe(false);
    expect(isRefused(await callFrom('127.0.0.3', url))).toBe(false);
  });

  test('can have its rate in the entry of its server', async () => {
    const { one, two } = servers();
    const rated = { server: one, rate: { tools: { one_echo: '1/h' }, perCaller: '3/h' } };
    await using gateway = await serving({ servers: { one: rated, two }, startMs: 60_000 });
    const replies = await times(2, () => callFrom('127.0.0.2', gateway.url));
    expect(replies.map(isRefused)).toEqual([false, true]);
    expect(replies[1]!.json.error!.data).toMatchObject({ limit: 'servers.one.rate.tools.one_echo' });
    const others = await times(3, () => callFrom('127.0.0.2', gateway.url, 'one__one_pid'));
    expect(others.map(isRefused)).toEqual([false, false, true]);
    expect(others[2]!.json.error!.data).toMatchObject({ limit: 'servers.one.rate.perCaller' });
    expect(isRefused(await callFrom('127.0.0.2', gateway.url, 'two__two_echo'))).toBe(false);
  });
});

const KEY = 'ann-key-0123456789abcdef';
const FILE = { name: 'write_file', inputSchema: { type: 'object' } };
test.each<[string, Partial<GatewayOptions>]>([
  ['a rate of a tool', { rate: { tools: { write_file: '1/h' } } }],
  [
    'a scope of a tool',
    { auth: { toolScopes: { 'write*': ['write'] }, keys: [{ name: 'ann', key: KEY, scopes: ['read'] }] } },
  ],
])('%s is not passed by a name that no list has shown, which the server would take', async (_, options) => {
  using server = new ChangingServer({ tools: [FILE, { ...FILE, name: 'read' }] });
  await using gateway = await serving({ servers: { desk: server.address }, startMs: 60_000, ...options });
  const call = async (name: string) => {
    const { json } = await callFrom('127.0.0.2', gateway.url, name, { authorization: `Bearer ${KEY}` });
    return JSON.stringify(json.result ?? json.error);
  };
  expect(await call('read')).toContain('read was called');
  for (const name of ['Write_file', 'WRITE_FILE', 'not_listed', 'desk__Write_file'])
    expect(await call(name)).not.toContain('was called');
});

test('a rate of a tool in the entry of its server is not passed by such a name', async () => {
  using server = new ChangingServer({ tools: [FILE] });
  const desk = { server: server.address, rate: { tools: { write_file: '1/h' } } };
  await using gateway = await serving({ servers: { desk }, startMs: 60_000 });
  const texts = [
    await callFrom('127.0.0.2', gateway.url, 'write_file'),
    await callFrom('127.0.0.2', gateway.url, 'Write_file'),
  ];
  expect(texts.map(({ json }) => JSON.stringify(json).includes('was called'))).toEqual([true, false]);
});

describe('a server', () => {
  test('has a rate for all callers together, and lists do not count', async () => {
    await using gateway = await withRate({ perServer: '3/h' });
    const client = await gateway.client();
    await times(5, () => client.listTools());
    for (const from of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) {
      expect(isRefused(await callFrom(from, gateway.url))).toBe(false);
    }
    const reply = await callFrom('127.0.0.5', gateway.url);
    expect(reply.json.error).toMatchObject({ code: -32000, data: { limit: 'rate.perServer' } });
    expect(await textOf(client, 'two__two_echo', { text: 'x' })).toContain('x');
  });

  test('keeps what was counted when the gateway is updated', async () => {
    await using gateway = await withRate({ perServer: '2/h' });
    await times(2, () => callFrom('127.0.0.2', gateway.url));
    gateway.gateway.update({ steps: [retry()] });
    expect(isRefused(await callFrom('127.0.0.2', gateway.url))).toBe(true);
  });
});

test('a refused message of a batch does not refuse the others', async () => {
  await using gateway = await withRate({ perCaller: '2/h' });
  const session = await openSession(gateway.url, { version: '2025-03-26' });
  const call = () => rpc('tools/call', { name: 'one__one_echo', arguments: { text: 'x' } });
  const { status, json } = await session.post([call(), call(), call()]);
  const refused = (json as unknown as Reply['json'][]).map(({ error }) => error?.code === -32000);
  expect([status, refused]).toEqual([200, expect.arrayContaining([true, false])]);
  expect(refused.filter(Boolean)).toHaveLength(1);
});

test.each([{ perCaller: 'often' }, { perServer: '10' }, { tools: { x: '0/s' } }])(
  '%j is refused at the start',
  (rate) => {
    expect(() => createGateway({ servers: servers(), rate })).toThrow(
      /^rate\.(perCaller|perServer|tools\.x): it must be a rate/,
    );
  },
);
