// What a client can get wrong over HTTP, in both eras. After each the server must answer somebody else as if nothing was.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSocket, send } from '../helpers/http-wire.ts';
import type { Json, Reply } from '../helpers/http-wire.ts';
import { MODERN, ask, leaks, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import type { HttpSession } from '../helpers/mcp-http.ts';
import { startDemoFixture, startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import { until } from '../helpers/until.ts';

const MAX_BYTES = 100_000;

let server: ServerProcess;
let session: HttpSession;

beforeAll(async () => {
  server = await startStorm({ limits: { maxRequestBytes: MAX_BYTES } });
  session = await openSession(server.url);
});

afterEach(async () => {
  expect(await ask(server.url, 'echo', { text: 'still here' })).toBe('still here');
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function expectError(reply: Reply, status: number, code: number): void {
  expect({ status: reply.status, code: reply.json.error?.code }).toEqual({ status, code });
  expect(reply.json.error!.message).not.toBe('');
  expect('result' in reply.json).toBe(false);
  expect(leaks(reply.text)).toBe(false);
}

describe('a body that is not a message', () => {
  it.each([
    ['nothing', '', -32700],
    ['half an object', '{"jsonrpc":"2.0"', -32700],
    ['something else', 'hello', -32700],
    ['a number', '7', -32600],
    ['null', 'null', -32600],
    ['no version', '{"id":1,"method":"ping"}', -32600],
    ['version 1.0', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['neither method nor result', '{"jsonrpc":"2.0","id":1}', -32600],
    ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602],
    ['an empty batch', '[]', -32600],
    ['a batch before initialize', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['too many levels', `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`, -32600],
  ])('%s is refused with 400', async (_, body, code) => {
    expectError(await send(server.url, { body }), 400, code);
    expectError(await session.post(body), 400, code);
  });

  it('bytes that are not UTF-8 do no harm', async () => {
    const socket = await openSocket(server.port);
    const body = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    await until('an answer', () => socket.text().includes('\r\n\r\n'));
    expect(socket.text()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});

describe('a body that is too large', () => {
  it('is refused by its announced length', async () => {
    expectError(await send(server.url, { body: 'x'.repeat(MAX_BYTES + 1) }), 413, -32600);
  });

  it('is refused when it turns out too large, sent in chunks', async () => {
    const socket = await openSocket(server.port);
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (let sent = 0; sent < 3; sent++) socket.write(`c350\r\n${'x'.repeat(50_000)}\r\n`);
    await until('a refusal', () => socket.text().includes('\r\n\r\n'));
    expect(socket.text()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('headers that are too large are refused with 431', async () => {
    expect((await send(server.url, { body: rpc('ping'), headers: { 'x-long': 'x'.repeat(40_000) } })).status).toBe(431);
  });
});

describe('headers that are wrong', () => {
  it.each<[string, Record<string, string>, number, number]>([
    ['a content type that is not JSON', { 'content-type': 'text/plain' }, 415, -32000],
    ['no content type', { 'content-type': '' }, 415, -32000],
    ['an Accept for neither kind of answer', { accept: 'text/html' }, 406, -32000],
    ['a session nobody knows', { 'mcp-session-id': 'nobody-knows' }, 404, -32001],
    ['a session id that is an attack', { 'mcp-session-id': "' OR 1=1 --" }, 404, -32001],
    ['a session id called __proto__', { 'mcp-session-id': '__proto__' }, 404, -32001],
  ])('%s', async (_, headers, status, code) => {
    expectError(await send(server.url, { body: rpc('ping'), headers }), status, code);
  });

  it('a version that a session cannot have is refused with what is spoken, another that it could have is accepted', async () => {
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
      expect((await session.request('ping', undefined, { 'mcp-protocol-version': version })).status).toBe(200);
    }
    for (const version of ['1999-01-01', 'nonsense', MODERN]) {
      const reply = await session.request('ping', undefined, { 'mcp-protocol-version': version });
      expectError(reply, 400, -32602);
      expect(reply.json.error!.data).toMatchObject({ requested: version });
    }
    expect((await session.request('ping', undefined, { 'mcp-protocol-version': '2025-11-25' })).status).toBe(200);
  });

  it('a version nobody speaks is refused before there is a session, too', async () => {
    expectError(
      await send(server.url, { body: rpc('ping'), headers: { 'mcp-protocol-version': 'nonsense' } }),
      400,
      -32602,
    );
  });

  it('methods of HTTP that mean nothing here are refused, naming those that do', async () => {
    for (const method of ['PUT', 'PATCH', 'HEAD']) {
      const reply = await send(server.url, { method });
      expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, POST, DELETE']);
    }
    expect((await send(server.url.replace('/mcp', '/nowhere'), { method: 'GET' })).status).toBe(404);
  });

  it('GET and DELETE need a session', async () => {
    for (const method of ['GET', 'DELETE']) {
      expectError(await send(server.url, { method }), 400, -32000);
      expectError(await send(server.url, { method, headers: { 'mcp-session-id': 'x' } }), 404, -32001);
    }
  });
});

describe('requests out of place', () => {
  it('before initialize are refused, and name what they answer', async () => {
    const reply = await send(server.url, { body: rpc('tools/list', {}, 'seven') });
    expectError(reply, 400, -32600);
    expect(reply.json.id).toBe('seven');
    expectError(await send(server.url, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } }), 400, -32000);
    expectError(await send(server.url, { body: { jsonrpc: '2.0', id: 1, result: {} } }), 400, -32000);
  });

  it('a second initialize is refused and the session lives on', async () => {
    expectError(await session.request('initialize', { protocolVersion: '2024-11-05' }), 400, -32600);
    expect((await session.request('ping')).json.result).toEqual({});
  });

  it('an answer nobody waits for is taken and changes nothing', async () => {
    for (const body of [
      { id: 'ask-0', result: {} },
      { id: 7, result: {} },
      { id: null, error: { code: 1, message: 'x' } },
    ]) {
      expect((await session.post({ jsonrpc: '2.0', ...body })).status).toBe(202);
    }
    expect((await session.request('ping')).json.result).toEqual({});
  });

  it('unknown methods and notifications: the first is told, the second is silent', async () => {
    expectError(await session.request('no/such'), 200, -32601);
    expect((await session.post({ jsonrpc: '2.0', method: 'no/such' })).status).toBe(202);
    expectError(await send(server.url, modern('no/such')), 404, -32601);
    expectError(await send(server.url, modern('ping')), 404, -32601);
  });

  it('the same id twice in flight: the second is refused, the first continues', async () => {
    const first = session.post(rpc('tools/call', { name: 'wait', arguments: { key: 'twice' } }, 'same'));
    await until('the call to run', async () => (await ask(server.url, 'state', { key: 'twice' })) === 'running');
    expectError(await session.post(rpc('ping', undefined, 'same')), 400, -32600);
    await ask(server.url, 'release', { key: 'twice' });
    expect((await first).json.result!.content![0]!.text).toBe('waited for twice');
  });
});

describe('params that are wrong', () => {
  const WRONG: Json[] = [
    {},
    { name: 7 },
    { name: 'no_such_tool' },
    { name: '__proto__' },
    { name: 'echo', arguments: [] },
    { name: 'echo', arguments: 'x' },
  ];

  it.each(WRONG)('tools/call with %j', async (params) => {
    const inSession = await session.request('tools/call', params);
    expect(inSession.json.error!.code).toBe(-32602);
    expect(leaks(inSession.text)).toBe(false);
    expect((await send(server.url, modern('tools/call', params))).json.error!.code).toBe(-32602);
  });

  it.each(['tools/list', 'resources/list', 'resources/templates/list'])(
    'a cursor nobody gave, to %s',
    async (method) => {
      for (const cursor of ['x', '', 7, {}, Buffer.from('{"offset":-1}').toString('base64')]) {
        const reply = await session.request(method, { cursor });
        expect(reply.json.error?.code ?? reply.json.result).toEqual(-32602);
      }
    },
  );

  it.each([
    '',
    'x',
    'file:///../../etc/passwd',
    '%2e%2e',
    'leak:///file\u0000',
    "' OR 1=1 --",
    '$(touch /tmp/x)',
    '{"$gt":""}',
  ])('resources/read of %j finds nothing and tells nothing', async (uri) => {
    const reply = await session.request('resources/read', { uri });
    expect([-32002, -32602]).toContain(reply.json.error!.code);
  });

  it('what a reader throws stays in the log', async () => {
    const reply = await session.request('resources/read', { uri: 'leak:///file' });
    expectError(reply, 200, -32603);
    await until('the log line', () =>
      server.complaints().includes((reply.json.error!.data as { exchange: string }).exchange),
    );
  });

  it('results that cannot be written are told as internal errors', async () => {
    expectError(await session.call('unwritable'), 200, -32603);
    expectError(await session.call('unwritable_progress', {}, { progressToken: 1 }), 200, -32603);
    expectError(await send(server.url, modern('tools/call', { name: 'unwritable' })), 200, -32603);
  });
});

describe('lies in the stateless era', () => {
  it.each<[string, Record<string, string>]>([
    ['no Mcp-Method', { 'mcp-method': '' }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['no Mcp-Name', { 'mcp-name': '' }],
    ['another name', { 'mcp-name': 'wait' }],
    ['a name in broken base64', { 'mcp-name': '=?base64?***?=' }],
    ['another version', { 'mcp-protocol-version': '2027-01-01' }],
    ['no version', { 'mcp-protocol-version': '' }],
  ])('%s in the headers is refused', async (_, lie) => {
    const request = modern('tools/call', { name: 'echo' });
    const headers = Object.fromEntries(
      Object.entries({ ...request.headers, ...lie }).filter(([, value]) => value !== ''),
    );
    const reply = await send(server.url, { ...request, headers });
    expectError(reply, 400, -32020);
    expect(reply.json.id).toBe(request.body.id);
  });

  it('a modern header over a body without envelope is refused', async () => {
    expectError(
      await send(server.url, { body: rpc('tools/list'), headers: { 'mcp-protocol-version': MODERN } }),
      400,
      -32602,
    );
  });

  it('a state nobody gave is refused', async () => {
    for (const requestState of ['x', '', 7, null, {}]) {
      expectError(await send(server.url, modern('tools/call', { name: 'ask', requestState })), 400, -32602);
    }
  });

  it('to listen without taking a stream is not acceptable', async () => {
    const request = modern('subscriptions/listen', { notifications: {} });
    expectError(
      await send(server.url, { ...request, headers: { ...request.headers, accept: 'application/json' } }),
      406,
      -32000,
    );
  });
});

it('the demo fixture is as hard to impress', async () => {
  await using demo = await startDemoFixture();
  for (const body of ['{', '[]', '7']) expect((await send(demo.url, { body })).status).toBe(400);
  expect((await send(demo.url, { body: rpc('tools/list') })).status).toBe(400);
  expect(await ask(demo.url, 'get_weather', { location: 'Rome' })).toContain('Rome');
  expect(await demo.stop()).toBe(0);
});
