// API keys on every transport and in both eras, from the options and from the file of `parley key`.
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { BOTH, openStream, send } from '../../../../tests/helpers/http-wire.ts';
import { socketWire } from '../../../../tests/helpers/line-wire.ts';
import { callModern, modern, openSession, rpc } from '../../../../tests/helpers/mcp-http.ts';
import { until } from '../../../../tests/helpers/until.ts';
import type { Identity } from '../../../kernel/exchange.ts';
import type { Next, StepExchange } from '../../../kernel/step.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { GatewayOptions } from '../../../gateway/gateway.ts';
import { hashKey, readKeyFile, writeKeyFile } from './api-keys.ts';

const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const ANN = 'parley_the-key-of-ann-0123456789';
const BOB = 'parley_the-key-of-bob-0123456789';
const keys = [
  { name: 'ann', key: ANN },
  { name: 'bob', hash: hashKey(BOB), scopes: ['read'] },
];
const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const as = (key: string) => ({ authorization: `Bearer ${key}` });

async function serving(options: Partial<GatewayOptions> = {}, listen: { host?: string; open?: boolean } = {}) {
  const server = createServer({ name: 'inner', version: '1', log });
  server.tool('echo', {}, ({ text }) => String(text));
  server.tool('erase', {}, () => 'erased');
  const seen: (Identity | undefined)[] = [];
  const look = (exchange: StepExchange, next: Next) => {
    if (exchange.method === 'tools/call') seen.push(exchange.client.connection?.identity);
    return next();
  };
  const gateway = createGateway({
    servers: { inner: server },
    log,
    auth: { keys },
    names: 'on-collision',
    steps: [look],
    ...options,
  });
  closing.push(() => gateway.close());
  const { url, port } = await gateway.listen({ port: 0, ...listen });
  return { gateway, url, port, seen, at: (path: string) => url.replace('/mcp', path) };
}

function keyFile() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'api-keys.json');
}

describe('a gateway with keys', () => {
  it('refuses a request without one with 401, on every path and in both eras, and runs nothing', async () => {
    const { at, port, seen } = await serving();
    const wrong = [
      {},
      as('parley_some-other-key-0123456789'),
      as(''),
      { authorization: ANN },
      as(`${ANN}x`),
      as(ANN.slice(0, -1)),
    ];
    for (const headers of wrong as Record<string, string>[]) {
      for (const path of [
        '/mcp',
        '/mcp/inner',
        '/sse',
        '/message?sessionId=x',
        '/status',
        '/nowhere',
        `/mcp?access_token=${ANN}`,
      ]) {
        const reply = await send(at(path), { body: rpc('tools/call', { name: 'echo' }), headers });
        expect([path, reply.status, reply.headers['www-authenticate']]).toEqual([
          path,
          401,
          expect.stringMatching(/^Bearer /),
        ]);
      }
      expect((await callModern(at('/mcp'), 'echo', {}, headers)).status).toBe(401);
      expect((await send(at('/sse'), { method: 'GET', headers })).status).toBe(401);
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers });
      const status = await new Promise((resolve) => {
        socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
        socket.on('error', () => {});
      });
      socket.terminate();
      expect(status).toBe(401);
    }
    expect(seen).toEqual([]);
  });

  it('lets a key in on every transport, and steps see whose it is', async () => {
    const { at, port, seen } = await serving();
    const session = await openSession(at('/mcp'), { headers: as(ANN) });
    expect((await session.call('echo', { text: 'hi' })).json.result?.content?.[0]?.text).toBe('hi');
    expect((await callModern(at('/mcp/inner'), 'echo', { text: 'ho' }, as(BOB))).json.result?.content?.[0]?.text).toBe(
      'ho',
    );
    const { wire } = await socketWire(port, as(ANN));
    await wire.request('initialize', OPENING);
    expect(
      (await wire.request('tools/call', { name: 'echo', arguments: { text: 'ws' } })).result?.content?.[0]?.text,
    ).toBe('ws');
    expect(seen).toMatchObject([
      { principal: 'key:ann', key: 'ann' },
      { principal: 'key:bob', key: 'bob', scopes: ['read'] },
      { principal: 'key:ann', key: 'ann' },
    ]);
  });

  it('shows the session of one key to no other key', async () => {
    const { at } = await serving();
    const session = await openSession(at('/mcp'), { headers: as(ANN) });
    const id = { 'mcp-session-id': session.headers['mcp-session-id']! };
    const answers = await Promise.all([
      send(at('/mcp'), { body: rpc('ping'), headers: { ...as(BOB), ...id } }),
      send(at('/mcp'), { method: 'GET', headers: { ...as(BOB), ...id, accept: 'text/event-stream' } }),
      send(at('/mcp'), { method: 'DELETE', headers: { ...as(BOB), ...id } }),
      send(at('/mcp'), { body: rpc('ping'), headers: { ...as(BOB), 'mcp-session-id': 'never-was' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await send(at('/mcp'), { body: rpc('ping'), headers: { ...as(ANN), ...id } })).status).toBe(200);
  });

  it('says which scopes a call needs, with 403, under every name of the tool', async () => {
    const { at, port } = await serving({
      auth: { keys, scopes: [], toolScopes: { inner__erase: ['write', 'purge'] } },
    });
    const refused = await callModern(at('/mcp'), 'erase', {}, as(BOB));
    expect([refused.status, refused.json.error?.message]).toEqual([403, expect.stringContaining('write purge')]);
    const encoded = await callModern(at('/mcp'), 'inner__erase', {}, as(BOB));
    expect(encoded.status).toBe(403);
    expect(encoded.headers['www-authenticate']).toMatch(/^Bearer error="insufficient_scope".* scope="write purge"/);
    expect((await callModern(at('/mcp'), 'erase', {}, as(ANN))).status).toBe(200);
    expect((await callModern(at('/mcp'), 'echo', {}, as(BOB))).status).toBe(200);
    const { wire } = await socketWire(port, as(BOB));
    await wire.request('initialize', OPENING);
    expect((await wire.request('tools/call', { name: 'erase', arguments: {} })).error?.message).toContain(
      'write purge',
    );
  });

  it('shows /status and /metrics to the admin scope alone, and health to everybody', async () => {
    const admin = 'parley_the-key-of-ops-0123456789';
    const { at } = await serving({
      auth: { keys: [...keys, { name: 'ops', key: admin, scopes: ['admin'] }] },
      pages: { '/status': (_, response) => void response.writeHead(200).end('servers') },
    });
    const statusOf = async (path: string, headers = {}) => (await send(at(path), { method: 'GET', headers })).status;
    for (const path of ['/status', '/metrics']) {
      expect([await statusOf(path), await statusOf(path, as(ANN)), await statusOf(path, as(BOB))]).toEqual([
        401, 403, 403,
      ]);
      expect(await statusOf(path, as(admin))).toBe(200);
    }
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
  });

  it('shows /metrics to a key with the admin scope alone where calls need another scope, and lets it call nothing', async () => {
    const admin = 'parley_the-key-of-ops-0123456789';
    const { at } = await serving({
      auth: { scopes: ['mcp'], keys: [...keys, { name: 'ops', key: admin, scopes: ['admin'] }] },
    });
    const { status } = await send(at('/metrics'), { method: 'GET', headers: as(admin) });
    expect(status).toBe(200);
    const refused = await callModern(at('/mcp'), 'echo', {}, as(admin));
    expect([refused.status, refused.json.error?.message]).toEqual([403, expect.stringContaining('mcp')]);
    expect((await send(at('/metrics'), { method: 'GET', headers: as(BOB) })).status).toBe(403);
  });

  it('refuses options that cannot work when it starts', async () => {
    const short = { name: 'x', key: 'short' };
    await expect(serving({ auth: { keys: [short] } })).rejects.toThrow(/16 characters/);
    await expect(serving({ auth: { keys: [{ name: 'x' }] } })).rejects.toThrow(/"key" or "hash"/);
    await expect(serving({ auth: { keys: [{ name: 'x', hash: 'md5:1' }] } })).rejects.toThrow(/sha256/);
    await expect(serving({ identify: () => 'x' })).rejects.toThrow(/either/);
  });
});

describe('the key file', () => {
  it('is read by its owner alone, and holds no key', () => {
    const path = keyFile();
    writeKeyFile(path, [{ name: 'ann', hash: hashKey(ANN) }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readKeyFile(path)).toEqual([{ name: 'ann', hash: hashKey(ANN) }]);
  });

  it('takes effect at once: a key that is added works, one that is removed does not, also on open streams', async () => {
    const path = keyFile();
    const { at, port } = await serving({ auth: { keyFile: path } });
    const ping = async (key: string) =>
      (await send(at('/mcp'), { ...modern('tools/list'), headers: { ...modern('tools/list').headers, ...as(key) } }))
        .status;
    expect(await ping(ANN)).toBe(401);
    writeKeyFile(path, [
      { name: 'ann', hash: hashKey(ANN) },
      { name: 'bob', hash: hashKey(BOB) },
    ]);
    expect([await ping(ANN), await ping(BOB)]).toEqual([200, 200]);
    const listen = modern('subscriptions/listen', { notifications: {} });
    const streams = await Promise.all([
      openStream(at('/sse'), { headers: as(ANN) }),
      openStream(at('/mcp'), { method: 'POST', ...listen, headers: { ...listen.headers, ...as(ANN), accept: BOTH } }),
    ]);
    const { wire } = await socketWire(port, as(ANN));
    const { wire: other } = await socketWire(port, as(BOB));
    writeKeyFile(path, [{ name: 'bob', hash: hashKey(BOB) }]);
    expect([await ping(ANN), await ping(BOB)]).toEqual([401, 200]);
    expect(streams.map(({ ended }) => ended)).toEqual([false, false]);
    await Promise.all(streams.map((stream) => stream.untilEnd()));
    await until('the socket to close', () => wire.closed);
    expect(other.closed).toBe(false);
  });

  it('that cannot be read lets nobody in', async () => {
    const path = keyFile();
    writeKeyFile(path, [{ name: 'ann', hash: hashKey(ANN) }]);
    const { at } = await serving({ auth: { keyFile: path } });
    expect((await callModern(at('/mcp'), 'echo', {}, as(ANN))).status).toBe(200);
    writeKeyFile(path, [{ name: 'ann', hash: 'x' }]);
    expect((await callModern(at('/mcp'), 'echo', {}, as(ANN))).status).toBe(401);
  });

  it('that cannot be looked at ends what its keys have opened and nothing else, and counts again when it can', async () => {
    const path = keyFile();
    const entry = { name: 'ann', hash: hashKey(ANN) };
    writeKeyFile(path, [entry]);
    const { at, port } = await serving({ auth: { keyFile: path } });
    const { wire } = await socketWire(port, as(ANN));
    await wire.request('initialize', OPENING);
    rmSync(path);
    symlinkSync(path, path); // a link to itself: every look at it fails, for root, too
    await until('the WebSocket of ann to end', () => wire.closed);
    expect((await callModern(at('/mcp'), 'echo', {}, as(ANN))).status).toBe(401);
    rmSync(path);
    writeKeyFile(path, [entry]);
    expect((await callModern(at('/mcp'), 'echo', {}, as(ANN))).status).toBe(200);
  });

  it('holds keys that expire', async () => {
    const path = keyFile();
    writeKeyFile(path, [
      { name: 'ann', hash: hashKey(ANN), expires: new Date(Date.now() - 1000).toISOString() },
      { name: 'bob', hash: hashKey(BOB), expires: new Date(Date.now() + 60_000).toISOString() },
    ]);
    const { at } = await serving({ auth: { keyFile: path } });
    const statusOf = async (key: string) => (await callModern(at('/mcp'), 'echo', {}, as(key))).status;
    expect([await statusOf(ANN), await statusOf(BOB)]).toEqual([401, 200]);
  });
});

describe('an address that others can reach', () => {
  it('is refused without a login, in a gateway and in a server, and the error says what to set', async () => {
    const free = { auth: undefined };
    await expect(serving(free, { host: '0.0.0.0' })).rejects.toThrow(/without a login/);
    await expect(serving(free, { host: '::' })).rejects.toMatchObject({ code: 'OPEN_TO_OTHERS' });
    const server = createServer({ name: 'x', version: '1', log });
    closing.push(() => server.close());
    await expect(server.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow(/TLS is not a login/);
  });

  it('is served with keys, or open if that is what was said', async () => {
    const { url } = await serving({}, { host: '0.0.0.0' });
    const here = url.replace('0.0.0.0', '127.0.0.1');
    expect((await callModern(here, 'echo', {})).status).toBe(401);
    expect((await callModern(here, 'echo', {}, as(ANN))).status).toBe(200);
    const open = await serving({ auth: undefined }, { host: '0.0.0.0', open: true });
    expect((await callModern(open.url.replace('0.0.0.0', '127.0.0.1'), 'echo', {})).status).toBe(200);
  });

  it('refuses callers whom `identify` does not know', async () => {
    const identify: GatewayOptions['identify'] = ({ headers }) => headers['x-user'] as string | undefined;
    const { url } = await serving({ auth: undefined, identify }, { host: '0.0.0.0' });
    const here = url.replace('0.0.0.0', '127.0.0.1');
    expect((await callModern(here, 'echo', {})).status).toBe(401);
    expect((await callModern(here, 'echo', {}, { 'x-user': 'ann' })).status).toBe(200);
    expect((await send(here.replace('/mcp', '/healthz'), { method: 'GET' })).status).toBe(200);
  });
});

describe('`identify`', () => {
  it('refuses whom it does not find, on loopback, too, and lets nobody in by a missing name', async () => {
    const users = new Map([['key-of-ann', 'ann']]);
    const identify: GatewayOptions['identify'] = ({ headers }) => users.get(String(headers['x-key']));
    const { url } = await serving({ auth: undefined, identify });
    for (const headers of [{}, { 'x-key': 'wrong' }])
      expect((await callModern(url, 'echo', {}, headers)).status).toBe(401);
    expect((await callModern(url, 'echo', {}, { 'x-key': 'key-of-ann' })).status).toBe(200);
    const later = await serving({ auth: undefined, identify: async (request) => identify(request) });
    expect((await callModern(later.url, 'echo', {})).status).toBe(401);
    const open = await serving({ auth: undefined, identify: () => null });
    expect((await callModern(open.url, 'echo', {})).status).toBe(200);
  });

  it('can refuse with false, and a user may be called like a caller without a name', async () => {
    const principals: string[] = [];
    const identify: GatewayOptions['identify'] = ({ headers }) => (headers['x-user'] as string | undefined) ?? false;
    const look = (exchange: StepExchange, next: Next) => {
      principals.push(exchange.client.principal);
      return next();
    };
    const { url } = await serving({ auth: undefined, identify, steps: [look] });
    expect((await callModern(url, 'echo', {})).status).toBe(401);
    for (const user of ['local', 'anonymous:session:1', 'user:local', 'ann'])
      await callModern(url, 'echo', {}, { 'x-user': user });
    expect(principals).toEqual(['user:local', 'user:anonymous:session:1', 'user:user:local', 'ann']);
  });
});
