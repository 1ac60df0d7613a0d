// Loopback is not a login: other users, other programs and pages of other ports reach it, too. `parley serve` and `wrap --port` ask for a token
// that only their user can read.
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connect } from 'mcp-parley';
import { until } from '../helpers/until.ts';
import { send } from '../helpers/http-wire.ts';
import { EXTERNAL, WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { freePort } from '../helpers/server-process.ts';

const { newHome, start } = homesOfTests();

interface Entry {
  url: string;
  headers?: { Authorization: string };
}

async function served(home: Home, args: string[] = ['--port', '0'], config: object = {}) {
  home.write('parley.config.json', { mcpServers: { weather: WEATHER }, ...config });
  const gateway = start(home, ['serve', ...args]);
  const [, address] = await gateway.says(/(http:\/\/\S+\/mcp)\s+Streamable HTTP/);
  const { stdout } = await home.run(['status', '--lines', '--url', address!]); // the token is printed on terminals only
  const [line] = /\{"mcpServers.*"url".*\}/.exec(stdout) ?? [''];
  const entry = (JSON.parse(line) as { mcpServers: { parley: Entry } }).mcpServers.parley;
  return { gateway, ...entry, origin: new URL(entry.url).origin, entry };
}

const fileOf = (home: Home) => join(home.path, 'state', 'parley', 'token');
const tokenOf = (home: Home) => readFileSync(fileOf(home), 'utf8').trim();
const info = { name: 'test', version: '1' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info },
};

function upgradeStatus(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!));
    socket.on('error', reject);
  });
}

test('every door but health checks asks for the token, and the refusal says how to get it', async () => {
  const home = newHome();
  const { url, origin, headers = { Authorization: '' } } = await served(home);
  const token = tokenOf(home);
  expect(headers.Authorization).toBe(`Bearer ${token}`);
  const doors: [string, string, unknown?][] = [
    ['POST', url, INITIALIZE],
    ['POST', `${url}/weather`, INITIALIZE],
    ['GET', `${origin}/sse`],
    ['POST', `${origin}/message?sessionId=x`, INITIALIZE],
    ['GET', `${origin}/status`],
    ['GET', `${origin}/metrics`],
  ];
  for (const [method, at, body] of doors) {
    for (const authorization of [undefined, `Bearer ${token.slice(0, -1)}x`, 'Bearer x', `Basic ${token}`]) {
      const reply = await send(at, { method, body, headers: authorization === undefined ? {} : { authorization } });
      expect([at, authorization, reply.status]).toEqual([at, authorization, 401]);
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer /);
      expect(reply.text).toContain('parley status --lines');
      expect(reply.text + JSON.stringify(reply.headers)).not.toContain(token);
    }
  }
  expect((await send(url, { body: INITIALIZE, headers: { ...headers } })).status).toBe(200);
  expect((await send(`${origin}/status`, { method: 'GET', headers: { ...headers } })).status).toBe(200);
  expect((await send(`${origin}/metrics`, { method: 'GET', headers: { ...headers } })).status).toBe(200);
  const ws = `${origin.replace('http', 'ws')}/ws`;
  expect([await upgradeStatus(ws), await upgradeStatus(ws, { ...headers })]).toEqual([401, 101]);
  for (const path of ['/healthz', '/readyz'])
    expect((await send(`${origin}${path}`, { method: 'GET' })).status).not.toBe(401);
});

test('every transport works with the printed entry', async () => {
  const { entry, headers = {}, origin } = await served(newHome());
  for (const address of [
    entry,
    { url: `${origin}/sse`, headers: { ...headers } },
    { url: `${origin.replace('http', 'ws')}/ws`, headers: { ...headers } },
  ]) {
    const client = await connect(address);
    expect((await client.listTools()).length).toBeGreaterThan(0);
    await client.close();
  }
});

test('the token is for its user alone, stays the same over restarts, and is printed for each client in its own form', async () => {
  const home = newHome();
  const first = await served(home);
  const token = tokenOf(home);
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  const lines = await home.run(['status', '--lines']);
  expect(lines.status).toBe(0);
  expect(lines.stdout).toContain(`--header "Authorization: Bearer ${token}"`);
  expect(lines.stdout).toContain(`http_headers = { "Authorization" = "Bearer ${token}" }`);
  expect(lines.stdout).toContain(
    `"type": "http", "url": "${first.url}", "headers": {"Authorization": "Bearer ${token}"}`,
  );
  const [shown = '', links] = lines.stdout.split('\nLinks that add it');
  expect(first.gateway.stdout.replaceAll('\r', '')).toContain(shown.replaceAll(token, 'TOKEN'));
  expect(links).toMatch(/cursor:.*vscode:/s);
  const byUrl = await home.run(['status', '--lines', '--url', first.url]);
  expect(byUrl.stdout).toBe(lines.stdout);
  await first.gateway.stop();
  expect((await served(home)).headers).toEqual({ Authorization: `Bearer ${token}` });
});

test('a token that others could have read, or that is somewhere else, is replaced', async () => {
  const home = newHome();
  const first = await served(home);
  const token = tokenOf(home);
  await first.gateway.stop();
  chmodSync(fileOf(home), 0o644);
  const second = await served(home);
  expect(tokenOf(home)).not.toBe(token);
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  await second.gateway.stop();
  const planted = join(home.path, 'planted');
  writeFileSync(planted, `parley_${'a'.repeat(43)}\n`, { mode: 0o600 });
  unlinkSync(fileOf(home));
  symlinkSync(planted, fileOf(home));
  const third = await served(home);
  expect(third.headers!.Authorization).not.toContain('aaaa');
});

test('the commands of the same user need nothing: by URL, over WebSocket, and through wrap, whichever starts first', async () => {
  const home = newHome();
  const port = await freePort();
  const client = await connect(home.address(['wrap', `http://127.0.0.1:${port}/mcp`]), { prefer: 'handshake' }).catch(
    () => undefined,
  );
  const { url, origin } = await served(home, ['--port', String(port)]);
  for (const at of [url, `${origin}/sse`, `${origin.replace('http', 'ws')}/ws`]) {
    expect(await home.run(['ls', 'tools', at])).toMatchObject({ status: 0, stdout: expect.stringContaining('TOOL') });
  }
  expect(await home.run(['status', '--url', url])).toMatchObject({ status: 0 });
  await client?.close();
  const late = await connect(home.address(['wrap', url]), { prefer: 'handshake' });
  expect((await late.listTools()).length).toBeGreaterThan(0);
  await late.close();
});

test('a gateway gets the token when it starts after the wrap that leads to it', async () => {
  const home = newHome();
  const port = await freePort();
  const wrap = start(home, ['wrap', '--port', '0', '--open', `http://127.0.0.1:${port}/mcp`]);
  const url = await wrap.url();
  // The wrap looks for its server with the first client, and finds none yet.
  const early = await connect(url).catch(() => undefined);
  await early?.listTools().catch(() => undefined);
  await early?.close();
  await wrap.says('It is retried when a client connects');
  await served(home, ['--port', String(port)]);
  // It is not tried again at once.
  const client = await until('a connection through the wrap', () => connect(url).catch(() => undefined));
  expect((await client.listTools()).length).toBeGreaterThan(0);
  await client.close();
});

test('nobody else gets the token, not even a server on this machine that refuses a request', async () => {
  const home = newHome();
  await served(home);
  const token = tokenOf(home);
  const seen: string[] = [];
  const stranger = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('no');
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  try {
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/mcp`;
    await home.run(['ls', url]);
    await home.run(['status', '--url', url]);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.join('')).not.toContain(token);
  } finally {
    stranger.close();
  }
});

test('pages of other ports of this machine may neither call nor read', async () => {
  const { url, origin, headers = {} } = await served(newHome());
  const other = 'http://localhost:5173';
  for (const [method, at] of [
    ['POST', url],
    ['OPTIONS', url],
    ['GET', `${origin}/status`],
    ['GET', `${origin}/healthz`],
  ] as const) {
    const body = method === 'POST' ? INITIALIZE : undefined;
    const reply = await send(at, { method, body, headers: { ...headers, origin: other } });
    expect([at, reply.status]).toEqual([at, 403]);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  }
  const ws = `${origin.replace('http', 'ws')}/ws`;
  expect(await upgradeStatus(ws, { ...headers, origin: other })).toBe(403);
  expect((await send(url, { body: INITIALIZE, headers: { ...headers, origin } })).status).toBe(200);
});

test('pages of configured origins may, with the token', async () => {
  const origin = 'http://localhost:5173';
  const { url, headers = {} } = await served(newHome(), undefined, { listen: { port: 0, allowedOrigins: [origin] } });
  expect((await send(url, { body: INITIALIZE, headers: { origin } })).status).toBe(401);
  const reply = await send(url, { body: INITIALIZE, headers: { ...headers, origin } });
  expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([200, origin]);
});

test('those who want no token say so, on the command line or in the file', async () => {
  for (const [args, config] of [
    [['--port', '0', '--open'], {}],
    [['--port', '0'], { listen: { open: true } }],
  ] as const) {
    const home = newHome();
    const { url, headers, gateway } = await served(home, [...args], config);
    expect(headers).toBeUndefined();
    expect((await send(url, { body: INITIALIZE })).status).toBe(200);
    expect(gateway.stdout).toContain('Open without a token');
    expect(existsSync(fileOf(home))).toBe(false);
  }
});

test('a configured login replaces the token', async () => {
  const home = newHome();
  const key = 'k'.repeat(32);
  const { url, headers } = await served(home, undefined, { auth: { keys: [{ name: 'me', key }] } });
  expect(headers).toEqual({ Authorization: 'Bearer KEY' }); // a placeholder
  expect((await send(url, { body: INITIALIZE })).status).toBe(401);
  expect((await send(url, { body: INITIALIZE, headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
});

test('wrap asks for it on a port, the demo does not', async () => {
  const home = newHome();
  const wrap = start(home, ['wrap', '--port', '0', '--', ...EXTERNAL]);
  const url = await wrap.url();
  const origin = new URL(url).origin;
  expect((await send(url, { body: INITIALIZE })).status).toBe(401);
  expect((await send(`${origin}/status`, { method: 'GET' })).status).toBe(401);
  expect((await send(`${origin}/healthz`, { method: 'GET' })).status).toBe(200);
  const authorization = `Bearer ${tokenOf(home)}`;
  expect((await send(url, { body: INITIALIZE, headers: { authorization } })).status).toBe(200);
  expect((await home.run(['status', '--lines'])).stdout).toContain(authorization);
  const demo = start(home, ['demo', '--port', '0']);
  expect((await send(await demo.url(), { body: INITIALIZE })).status).toBe(200);
});

test('a client that sends a key in place of the token is told apart from the others, and is not an operator', async () => {
  const home = newHome();
  const { url, origin, headers = { Authorization: '' } } = await served(home);
  const keys: string[] = [];
  for (const args of [['ann'], ['bob'], ['boss', '--scope', 'admin']])
    keys.push((await home.run(['key', 'add', ...args])).stdout.trim());
  const [ann, bob, boss] = keys.map((key) => ({ authorization: `Bearer ${key}` }));
  const nameless = { authorization: headers.Authorization };
  const began = await send(url, { body: INITIALIZE, headers: ann! });
  expect(began.status).toBe(200);
  const session = { 'mcp-session-id': String(began.headers['mcp-session-id']) };
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
  const statuses = await Promise.all(
    [ann!, bob!, nameless].map(
      async (who) => (await send(url, { body: ping, headers: { ...who, ...session } })).status,
    ),
  );
  expect(statuses).toEqual([200, 404, 404]);
  const seen = async (who: Record<string, string>) =>
    (await send(`${origin}/status`, { method: 'GET', headers: who })).status;
  expect([await seen(nameless), await seen(ann!), await seen(boss!)]).toEqual([200, 403, 200]);
  expect((await home.run(['key', 'rm', 'ann'])).status).toBe(0);
  expect((await send(url, { body: ping, headers: { ...ann!, ...session } })).status).toBe(401);
});

/** Writes down what comes to this address. */
async function stranger(host: string, port: number) {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(JSON.stringify(request.headers));
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  server.on('upgrade', (request, socket) => {
    got.push(JSON.stringify(request.headers));
    socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
  });
  const isOpen = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, host, () => resolve(true));
  });
  return { got, isOpen, [Symbol.dispose]: () => server.close().closeAllConnections() };
}

test.each([
  ['http', '127.0.0.2', '127.0.0.2'],
  ['ws', '127.0.0.2', '127.0.0.2'],
  ['http', '[::1]', '::1'],
  ['http', 'localhost', '::1'],
])('a program at the same port of another address does not get the token by %s://%s', async (scheme, name, host) => {
  const home = newHome();
  const { url } = await served(home);
  const { port } = new URL(url);
  using other = await stranger(host, Number(port));
  if (!other.isOpen) return; // this machine has no such address
  await home.run(['ls', '--url', `${scheme}://${name}:${port}/mcp`]);
  expect(other.got.join(' ')).not.toContain(tokenOf(home));
});

test('a gateway is found by its address, and by localhost if nobody else has that port there', async () => {
  const home = newHome();
  const { url } = await served(home);
  const { port } = new URL(url);
  for (const name of ['127.0.0.1', 'localhost'])
    expect((await home.run(['ls', 'tools', '--url', `http://${name}:${port}/mcp`])).stdout).toContain('get_weather');
});
