import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { answer } from '../fixtures/peer.mjs';
import { json, result, serve, stream, type Seen } from '../fixtures/serve.mjs';
import { isLostAnswer } from './link.ts';
import { linkTo, open } from '../http-peer.contract.ts';
import type { HttpRefusal } from '../http/http-refusal.ts';
import { call, describeLink, later, started } from '../../../gateway/servers/upstream.contract.ts';

const exempt = { 'peer dies': 'there is no connection that could be lost: each request finds out by itself' };
for (const form of ['JSON', 'events'] as const) {
  describeLink({
    name: `streamable HTTP (${form})`,
    connect: async (limits) => linkTo(await serve((seen, response) => speak(form, seen, response)), { limits }),
    exempt,
  });
}

test('messages of a POST are delivered with the id of its request', async () => {
  await using peer = await open((seen, response) => speak('events', seen, response));
  await peer.link.send(call('say', { frames: [result('other')] }, 'a'));
  await peer.link.send(call('echo', {}, 2));
  await peer.told.answer('a');
  await peer.told.answer(2);
  const from = peer.told.messages.map(({ message, from }) => ['id' in message && message.id, from]);
  expect(from).toHaveLength(3);
  expect(from).toEqual(
    expect.arrayContaining([
      ['other', 'a'],
      ['a', 'a'],
      [2, 2],
    ]),
  );
});

test('every POST has the headers of the transport, of the link and of the call', async () => {
  await using peer = await open((_, response) => response.writeHead(202).end(), {
    headers: { Authorization: 'Bearer x' },
  });
  peer.link.setHeaders?.({ 'MCP-Protocol-Version': '2025-06-18' });
  await peer.link.send({ jsonrpc: '2.0', method: 'note' }, { headers: { 'Mcp-Name': 'n' } });
  await peer.link.send({ jsonrpc: '2.0', method: 'note' });
  expect(peer.server.seen[0]!.headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer x',
    'mcp-protocol-version': '2025-06-18',
    'mcp-name': 'n',
  });
  expect(peer.server.seen[1]!.headers).not.toHaveProperty('mcp-name');
});

test('the session id of the server goes with every later request, and is ended by close', async () => {
  await using peer = await open(({ method, message }, response) => {
    if (method === 'DELETE') response.writeHead(200).end();
    else json(response, { jsonrpc: '2.0', id: message.id, result: {} }, 200, { 'Mcp-Session-Id': 's1' });
  });
  await peer.link.send(call('initialize'));
  await peer.link.send(call('echo'));
  await peer.link.close();
  const seen = peer.server.seen.map(({ method, headers }) => [method, headers['mcp-session-id']]);
  expect(seen).toEqual([
    ['POST', undefined],
    ['POST', 's1'],
    ['DELETE', 's1'],
  ]);
});

test('a session that the server has forgotten is a refusal, and is named until there is a new one, but not to open it', async () => {
  await using peer = await open(({ message }, response) => {
    const opened = { 'mcp-session-id': `s${message.id}` };
    if (message.method === 'initialize') json(response, { jsonrpc: '2.0', id: message.id, result: {} }, 200, opened);
    else json(response, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, 404);
  });
  await peer.link.send(call('initialize', {}, 1));
  const lost = { status: 404, body: { error: { code: -32001 } } };
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject(lost);
  await expect(peer.link.send(call('echo', {}, 'late'))).rejects.toMatchObject(lost);
  await peer.link.send(call('initialize', {}, 2));
  await expect(peer.link.send(call('echo', {}, 'last'))).rejects.toMatchObject(lost);
  const sessions = peer.server.seen.map(({ headers }) => headers['mcp-session-id']);
  expect(sessions).toEqual([undefined, 's1', 's1', undefined, 's2']);
  await peer.link.close();
  expect(peer.server.seen.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

test('an HTTP error is a refusal with its body and Retry-After, and delivers nothing', async () => {
  const body = { jsonrpc: '2.0', id: 'echo', error: { code: -32022, message: 'no', data: { supported: ['x'] } } };
  await using peer = await open((_, response) => json(response, body, 400, { 'retry-after': '3' }));
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ status: 400, body, retryAfterMs: 3000 });
  expect(peer.told.messages).toEqual([]);
});

test('an error page is kept up to 2 KB', async () => {
  await using peer = await open((_, response) => response.writeHead(502).end('<p>'.repeat(10_000)));
  const refusal = (await peer.link.send(call('echo')).catch((error: unknown) => error)) as HttpRefusal;
  expect([refusal.status, String(refusal.body).length, refusal.retryAfterMs]).toEqual([502, 2048, undefined]);
});

test('a page in place of an answer is refused, whatever its status', async () => {
  await using peer = await open((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in'),
  );
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
});

test('a notification may be answered with anything', async () => {
  const bodies = [() => [202], () => [204], () => [200, 'ok'], () => [200, '', 'application/json']] as const;
  await using peer = await open((_, response, all) => {
    const [status, text = '', type = 'text/plain'] = bodies[all.length - 1]!() as [number, string?, string?];
    response.writeHead(status, { 'content-type': type }).end(text);
  });
  for (const _ of bodies) await peer.link.send({ jsonrpc: '2.0', method: 'note' });
  await peer.link.close();
  expect([peer.told.messages, peer.told.garbage]).toEqual([[], []]);
});

test('a JSON answer that is oversize, broken, empty or has another id is reported as lost', async () => {
  const limits = { maxResultBytes: 1000 };
  const bad = {
    large: (response: ServerResponse) => json(response, { jsonrpc: '2.0', id: 'large', result: 'x'.repeat(2000) }),
    broken: (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"jsonrpc":', () => response.destroy());
    },
    empty: (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' }).end(),
    other: (response: ServerResponse) => response.writeHead(200).end(result('another')),
  };
  await using peer = await open(({ message }, response) => bad[message.id as keyof typeof bad](response), { limits });
  for (const id of Object.keys(bad)) {
    await peer.link.send(call('echo', {}, id));
    const lost = await peer.told.answer(id);
    expect(lost).toMatchObject({ error: { code: -32603, message: expect.stringContaining('The answer was lost') } });
    expect(isLostAnswer(lost)).toBe(true);
  }
});

test('abort before the head ends the POST and rejects with the reason', async () => {
  const arrived = later<ServerResponse>();
  await using peer = await open((_, response) => arrived.come(response));
  const stop = new AbortController();
  const sent = expect(peer.link.send(call('echo'), { signal: stop.signal })).rejects.toThrow('enough');
  const closed = once(await arrived.value, 'close');
  stop.abort(new Error('enough'));
  await sent;
  await closed;
});

test('an abort after the response head ends the stream and reports nothing', async () => {
  const arrived = later<ServerResponse>();
  await using peer = await open((_, response) => {
    stream(response)({ id: '1', data: result('other') });
    arrived.come(response);
  });
  const stop = new AbortController();
  await peer.link.send(call('echo'), { signal: stop.signal });
  await peer.told.answer('other');
  const closed = once(await arrived.value, 'close');
  stop.abort();
  await closed;
  await peer.link.close();
  expect(peer.told.messages).toHaveLength(1);
  expect(peer.server.seen.map(({ method }) => method)).toEqual(['POST']);
});

test('close refuses what is under way, and waits for no server', async () => {
  const arrived = later<void>();
  await using peer = await open(({ method, message }, response) => {
    if (message?.method === 'initialize')
      json(response, { jsonrpc: '2.0', id: 'initialize', result: {} }, 200, { 'mcp-session-id': 's' });
    else if (method === 'POST') arrived.come();
  });
  await peer.link.send(call('initialize'));
  const sent = expect(peer.link.send(call('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  await arrived.value;
  await peer.link.close();
  await sent;
  expect(peer.server.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE']);
});

test('a server that is not there is named by its URL, without credentials and query', async () => {
  const server = await serve(() => undefined);
  await server.close();
  const url = new URL('?key=secret', server.url.replace('//', '//user:secret@'));
  await using peer = await started(async () => linkTo(server, { url }));
  const error = await peer.link.send(call('echo')).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') });
  expect(JSON.stringify([peer.link.name, String(error), (error as { details: unknown }).details])).not.toContain(
    'secret',
  );
});

test('a redirect is followed within the origin, with the body, and refused across origins', async () => {
  await using stranger = await serve((_, response) => response.writeHead(202).end());
  await using peer = await open(({ path }, response) => {
    if (path === '/mcp') response.writeHead(307, { location: '/mcp/' }).end();
    else if (path === '/mcp/') response.writeHead(308, { location: stranger.url }).end();
  });
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ status: 308 });
  expect(peer.server.seen.map(({ path, message }) => [path, message.method])).toEqual([
    ['/mcp', 'echo'],
    ['/mcp/', 'echo'],
  ]);
  expect(stranger.seen).toEqual([]);
});

test('a process that has closed its links ends by itself', async () => {
  await using server = await serve((seen, response) => speak('events', seen, response));
  const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}.mjs`, import.meta.url));
  const args = ['--import', 'tsx', fixture('closes-and-ends'), server.url, fixture('echo')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  await once(child, 'close');
  expect([output, child.exitCode]).toEqual(['closed\n', 0]);
});

/** The words of peer.mjs over HTTP: `echo` in the form asked for, the others as events. */
function speak(form: 'JSON' | 'events', { method, message }: Seen, response: ServerResponse): void {
  if (method !== 'POST') return void response.writeHead(405).end();
  if (form === 'JSON' && message.method === 'echo')
    return json(response, JSON.parse(result(message.id, message.params)));
  const write = stream(response);
  answer(message, {
    write: (data) => write({ data }),
    die: () => response.destroy(),
    isOver: () => response.destroyed,
  });
  if (message.method !== 'flood') response.end();
}
