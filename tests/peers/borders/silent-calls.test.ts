// Calls without output until their answer, behind a proxy with an idle timeout and over connections that break.
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { connect as connectParley, createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { send } from '../../helpers/http-wire.ts';
import { hasTool } from '../../helpers/tools.ts';
import { until } from '../../helpers/until.ts';
import { startNginx, startNginxWith } from './helpers/nginx.ts';
import { connectSdk } from './helpers/sdk-clients.ts';

const SERVER = fileURLToPath(new URL('servers/silent-v1.mjs', import.meta.url));

async function startGateway(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({
    servers: { silent: { command: process.execPath, args: [SERVER] } },
    log: createLog({ level: 'silent' }),
    startMs: 60_000,
    ...options,
  });
  const { url, port } = await gateway.listen({ port: 0 });
  return { url, port, [Symbol.asyncDispose]: () => gateway.close() };
}

describe.runIf(hasTool('nginx'))('behind nginx, a silent call longer than proxy_read_timeout', () => {
  test.each(['SDK v1', 'SDK v2, handshake'] as const)('answers with default settings: %s', async (kind) => {
    await using gateway = await startGateway();
    await using direct = await connectSdk(kind, gateway.url);
    await direct.call('runs'); // the server is up before nginx counts seconds
    await using nginx = await startNginx(gateway.url, ['proxy_read_timeout 1s', 'proxy_http_version 1.1']);
    await using client = await connectSdk(kind, `${nginx.origin}/mcp`);
    const call = client.call('hold', { key: kind });
    // The GET stream of the client is cut as well: so many that the call itself was cut at least twice.
    const before = nginx.timeouts();
    await until('nginx to give up again and again', () => nginx.timeouts() >= before + 5);
    await until('the call to be let go', async () => (await direct.call('go', { key: kind })) === 'true');
    expect(await call).toBe('released');
    expect(await direct.call('runs')).toBe('1');
  });

  test.each([
    ['SDK v1', '2025-06-18'],
    ['SDK v2, handshake', '2025-03-26'],
    ['SDK v2, 2026-07-28', '2026-07-28'],
  ] as const)('answers with a shorter keepAliveMs: %s, %s', async (kind, revision) => {
    await using gateway = await startGateway({ limits: { keepAliveMs: 300 } });
    await using nginx = await startNginx(gateway.url, ['proxy_read_timeout 2s', 'proxy_http_version 1.1']);
    await using client = await connectSdk(kind, `${nginx.origin}/mcp`, { revision });
    expect(await client.call('silent', { ms: 4500 })).toBe('done');
    expect(await client.call('runs')).toBe('1');
  });
});

describe.runIf(hasTool('nginx'))('nginx in front of a gateway', () => {
  const page = readFileSync(new URL('../../../docs/eras.md', import.meta.url), 'utf8');
  const documented = /```nginx\n([^]*?)```/.exec(page)![1];

  test('passes on every transport with the configuration of the docs', async () => {
    await using gateway = await startGateway({ allowedHosts: ['mcp.example.com'] });
    await using nginx = await startNginxWith((port) =>
      documented
        .replace('listen 80', `listen 127.0.0.1:${port}`)
        .replace('127.0.0.1:8470', `127.0.0.1:${gateway.port}`),
    );
    await using sdk = await connectSdk('SDK v1', `${nginx.origin}/mcp`);
    expect(await sdk.call('runs')).toBe('0');
    const socket = await connectParley(`${nginx.origin.replace('http', 'ws')}/ws`);
    expect((await socket.callTool('runs')).content).toEqual([{ type: 'text', text: '0' }]);
    await socket.close();
    const named = await send(`${nginx.origin}/mcp`, { method: 'GET', headers: { host: 'mcp.example.com' } });
    expect(named.status).toBe(400); // let in, and told that the session is missing
  });

  test('is told which setting lets it in when it sends a Host of its own', async () => {
    await using gateway = await startGateway();
    await using nginx = await startNginxWith(
      (port) => `upstream parley { server 127.0.0.1:${gateway.port}; }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://parley; } }`,
    );
    const { status, json } = await send(`${nginx.origin}/mcp`, { body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expect([status, json.error!.message]).toEqual([403, expect.stringContaining('allowedHosts')]);
  });
});

describe('a connection that breaks during a silent call', () => {
  test.each(['SDK v1', 'SDK v2, handshake'] as const)('is resumed, and the tool runs once: %s', async (kind) => {
    await using gateway = await startGateway();
    await using cable = await startCable(gateway.port);
    await using client = await connectSdk(kind, cable.url);
    await using direct = await connectSdk(kind, gateway.url);
    const call = client.call('hold', { key: kind });
    for (const times of [1, 2]) {
      // Once for the stream of the call and once for that of the GET that resumes it, each after it was primed.
      await until('an event id to come back with', () => cable.primed() >= times);
      cable.cut();
    }
    await until('the call to be let go', async () => (await direct.call('go', { key: kind })) === 'true');
    expect(await call).toBe('released');
    expect(await direct.call('runs')).toBe('1');
  });
});

test('a fast call is answered with plain JSON, and a client that takes only JSON never gets a stream', async () => {
  await using gateway = await startGateway({ limits: { keepAliveMs: 50, primeMs: 50 } });
  const post = async (accept: string, body: object, session?: string) =>
    fetch(gateway.url, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', ...(session && { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'json', version: '1' } };
  const opened = await post('application/json', { method: 'initialize', params: opening });
  const session = opened.headers.get('mcp-session-id')!;
  const silent = { method: 'tools/call', params: { name: 'silent', arguments: { ms: 500 } } };
  const answer = await post('application/json', silent, session);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const ping = await post('application/json, text/event-stream', { method: 'ping' }, session);
  expect(ping.headers.get('content-type')).toBe('application/json');
  const both = await post('application/json, text/event-stream', silent, session);
  expect(both.headers.get('content-type')).toBe('text/event-stream');
  expect(await both.text()).toMatch(/^id: \S+\ndata: \n\n[^]*data: {.*done/);
});

/** A TCP proxy in front of a port that can be cut. */
async function startCable(port: number) {
  const sockets = new Set<Socket>();
  let primed = 0;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    far.on('data', (chunk) => void (primed += String(chunk).split(/\nid: p\S+\ndata: \n/).length - 1));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    /** Events without data that streams of calls began with. */
    primed: () => primed,
    cut: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    async [Symbol.asyncDispose]() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
