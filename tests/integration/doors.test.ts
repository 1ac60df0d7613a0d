// Who is let in, on every path; and what is left when the doors are closed.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { openSocket, openStream, send } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { ask, leaks, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { startStorm } from '../helpers/server-process.ts';
import { until, within } from '../helpers/until.ts';

function make(): ParleyServer {
  const server = createServer({ name: 'doors', version: '1', log: createLog({ level: 'silent' }) });
  server.tool('echo', {}, ({ text }) => String(text));
  server.tool('wait', {}, async (_, call) => {
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
    return 'cancelled';
  });
  return server;
}

describe('a page or name from elsewhere', () => {
  const foreign = [
    { host: 'evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:5173' },
    { host: 'evil.example:80', origin: 'http://localhost' },
  ];

  it('is refused with 403 on every path, whatever the method, before anything is parsed', async () => {
    const server = make();
    const { url } = await server.listen({ port: 0 });
    for (const headers of foreign) {
      for (const path of ['/mcp', '/sse', '/message', '/nowhere']) {
        for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
          const reply = await send(url.replace('/mcp', path), {
            method,
            headers,
            ...(method === 'POST' && { body: '{' }),
          });
          expect([path, method, reply.status]).toEqual([path, method, 403]);
          expect(reply.headers['access-control-allow-origin']).toBeUndefined();
          expect(leaks(reply.text)).toBe(false);
        }
      }
    }
    await server.close();
  });

  it('is refused on the upgrade to a WebSocket', async () => {
    const server = make();
    const { port } = await server.listen({ port: 0 });
    for (const headers of foreign) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers });
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
      expect(response.statusCode).toBe(403);
      socket.on('error', () => {}).terminate();
    }
    await expect(socketWire(port, { origin: `http://127.0.0.1:${port}` })).resolves.toBeDefined();
    await server.close();
  });

  it('that is allowed gets its preflight and may read the answer', async () => {
    const server = make();
    const { url } = await server.listen({ port: 0, allowedOrigins: ['https://app.example.com'] });
    const origin = 'https://app.example.com';
    const asked = 'content-type, mcp-session-id, mcp-param-region';
    const preflight = await send(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': asked,
      vary: 'Origin',
    });
    const { headers } = await send(url, {
      body: rpc('initialize', { protocolVersion: '2025-11-25' }),
      headers: { origin },
    });
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-expose-headers']).toContain('Mcp-Session-Id');
    await server.close();
  });
});

describe('an identify hook that fails', () => {
  it('costs the request alone, and its words stay here', async () => {
    const server = createServer({
      name: 'x',
      version: '1',
      log: createLog({ level: 'silent' }),
      identify: ({ headers }) => {
        if (headers['x-user'] === 'boom') throw new Error('hunter2');
        return null;
      },
    });
    const { url, port } = await server.listen({ port: 0 });
    const reply = await send(url, { body: rpc('ping'), headers: { 'x-user': 'boom' } });
    expect([reply.status, reply.json.error?.message, leaks(reply.text)]).toEqual([500, 'Internal error', false]);
    await expect(socketWire(port, { 'x-user': 'boom' })).rejects.toThrow();
    expect((await send(url, { body: rpc('ping') })).status).toBe(200);
    await server.close();
  });
});

describe('TLS', () => {
  const openssl = findOpenssl();

  it.skipIf(openssl === undefined)(
    'serves HTTP and WebSocket, and closes though a handshake hangs (needs openssl)',
    async () => {
      const { key, cert } = selfSigned();
      const server = make();
      const { url, port } = await server.listen({ port: 0, tls: { key, cert } });
      expect(url).toMatch(/^https:/);
      const request = modern('tools/call', { name: 'echo', arguments: { text: 'sealed' } });
      const reply = await send(url.replace('127.0.0.1', 'localhost'), { ...request, ca: cert });
      expect(reply.json.result!.content![0]!.text).toBe('sealed');
      const socket = new WebSocket(`wss://localhost:${port}/ws`, { ca: cert });
      await within('a WebSocket over TLS', once(socket, 'open'));
      const plain = await openSocket(port);
      plain.write('GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const hanging = await openSocket(port);
      await within('the server to close', server.close());
      await until('the hanging handshake to end', () => hanging.destroyed || hanging.readableEnded);
      for (const one of [plain, hanging]) one.destroy();
      socket.on('error', () => {}).terminate();
    },
  );

  it('without it, listening to more than this machine is told in the log', async () => {
    const lines: string[] = [];
    const server = createServer({
      name: 'x',
      version: '1',
      log: createLog({ write: (line) => void lines.push(line) }),
    });
    await server.listen({ port: 0, host: '0.0.0.0', open: true });
    expect(lines.join()).toContain('listen.without-tls');
    await server.close();
  });

  function findOpenssl(): string | undefined {
    try {
      return execFileSync('openssl', ['version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return undefined;
    }
  }

  function selfSigned(): { key: string; cert: string } {
    const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const args = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
    ];
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    try {
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    } finally {
      removeFolder(folder);
    }
  }
});

describe('closing', () => {
  it('leaves nothing behind, even with clients connected: the process exits by itself', async () => {
    await using server = await startStorm();
    const session = await openSession(server.url, { capabilities: { elicitation: {} } });
    const get = await session.stream();
    const asking = await session.callStream('ask', {});
    const request = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const listening = await openStream(server.url, { method: 'POST', ...request });
    const sse = await openStream(server.url.replace('/mcp', '/sse'));
    const { socket, wire } = await socketWire(server.port);
    await wire.initialize();
    const calls = [
      session.call('wait', { key: 'legacy' }),
      send(server.url, modern('tools/call', { name: 'wait', arguments: { key: 'modern' } })),
    ];
    const outcomes = Promise.allSettled(calls);
    const silent = await openSocket(server.port);
    const half = await openSocket(server.port);
    half.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n');
    await until('the calls to run', async () => (await ask(server.url, 'state', { key: 'modern' })) === 'running');
    await listening.until('the acknowledgement', ({ messages }) => messages.length > 0);
    expect(await server.stop()).toBe(0);
    for (const stream of [get, asking, listening, sse]) await stream.untilEnd();
    await outcomes;
    await until(
      'every socket to end',
      () => wire.closed && [silent, half].every((one) => one.destroyed || one.readableEnded),
    );
    socket.terminate();
    for (const one of [silent, half]) one.destroy();
    expect(server.complaints()).not.toMatch(/Error|unhandled/i);
  });

  it('a listen stream gets its closing result', async () => {
    const server = make();
    const { url } = await server.listen({ port: 0 });
    const request = modern('subscriptions/listen', { notifications: {} });
    const stream = await openStream(url, { method: 'POST', ...request });
    await stream.until('the acknowledgement', ({ messages }) => messages.length > 0);
    await server.close();
    await stream.untilEnd();
    expect(stream.messages.at(-1)).toMatchObject({ id: request.body.id, result: { resultType: 'complete' } });
  });

  it('2 x 100 connections come and go in this process without leaving a handle or a listener', async () => {
    const server = make();
    const listeners = process
      .eventNames()
      .map((name) => process.listenerCount(name))
      .join();
    const listening = await server.listen({ port: 0 });
    const { url, port } = listening;
    const round = async () => {
      for (let n = 0; n < 100; n++) {
        const session = await openSession(url);
        const stream = await session.stream();
        const { socket } = await socketWire(port);
        socket.terminate();
        stream.close();
        await session.delete();
        const { headers, body } = modern('tools/call', { name: 'wait' });
        const hanging = await openSocket(port);
        const text = JSON.stringify(body);
        const shown = Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('');
        hanging.write(
          `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n${shown}\r\n${text}`,
        );
        hanging.destroy();
      }
    };
    await round();
    await until('the sockets to close', () => sockets() <= 2);
    const before = sockets();
    await round();
    await until('as few sockets as before', () => sockets() <= before);
    await listening.close();
    await until('no socket', () => sockets() === 0);
    expect(
      process
        .eventNames()
        .map((name) => process.listenerCount(name))
        .join(),
    ).toBe(listeners);
  });

  it('an endpoint mounted into another server lets go of its clients and leaves the server alone', async () => {
    const server = make();
    const endpoint = server.endpoint();
    const http = createHttpServer(endpoint.handle.bind(endpoint)).on('upgrade', endpoint.upgrade.bind(endpoint));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    const stream = await (await openSession(`http://127.0.0.1:${port}/mcp`)).stream();
    const { wire } = await socketWire(port);
    await server.close();
    await stream.untilEnd();
    await until('the WebSocket to close', () => wire.closed);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    http.closeAllConnections();
    http.close();
    await once(http, 'close');
  });
});

/** Open sockets of this process; both ends of a connection count. */
function sockets(): number {
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return handles.filter(
    (handle) => handle.constructor.name === 'Socket' && 'remotePort' in handle && handle.remotePort !== undefined,
  ).length;
}
