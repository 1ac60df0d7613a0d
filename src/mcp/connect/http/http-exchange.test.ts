import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Cancellation } from '../../../kernel/base/cancellation.ts';
import { readResponseBody, type BodyContent } from './http-body.ts';
import { connectionsTo, PlainHttp } from './http-exchange.ts';
import type { HttpExchangeOptions, HttpConnections } from './http-connections.ts';
import type { UpstreamResponse } from './http-response.ts';
import { PooledHttp } from './pooled-http.ts';

describe.each([
  { name: 'node:http', connect: (origin: string) => new PlainHttp(origin, undefined) },
  { name: 'undici', connect: (origin: string) => new PooledHttp(origin, undefined) },
])('by $name', ({ connect }) => {
  test('a request and its response, whatever its status', async () => {
    await using peer = await open(connect, (request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(418, { 'set-cookie': ['a=1', 'b=2'] }).end(`${request.method} ${request.url}`);
    });
    const response = await ask(peer, { path: '/mcp?x=1', method: 'GET', headers: { 'last-event-id': 'Ã¤' } });
    expect(response).toMatchObject({ statusCode: 418, headers: { 'set-cookie': ['a=1', 'b=2'] } });
    expect(await bodyOf(response)).toEqual({ kind: 'whole', bytes: Buffer.from('GET /mcp?x=1') });
    expect(peer.seen[0]!.headers).toMatchObject({ 'last-event-id': 'Ã¤', connection: 'keep-alive' });
  });

  test('the content length matches the body', async () => {
    await using peer = await open(connect, async (request, response) => {
      response.end(Buffer.concat(await request.toArray()));
    });
    const response = await ask(peer, { body: '{"text":"ä€"}' });
    expect(await bodyOf(response)).toEqual({ kind: 'whole', bytes: Buffer.from('{"text":"ä€"}') });
    expect(peer.seen[0]!.headers).toMatchObject({ 'content-length': '16' });
  });

  test('a connection is reused, unless its request was aborted', async () => {
    const ports: unknown[] = [];
    await using peer = await open(connect, ({ url, socket }, response) => {
      ports.push(socket.remotePort);
      response.write('some');
      if (url !== '/endless') response.end();
    });
    for (let i = 0; i < 6; i++) await bodyOf(await ask(peer));
    expect(new Set(ports).size).toBeLessThan(3);
    (await ask(peer, { path: '/endless' })).body.destroy();
    for (let i = 0; i < 3; i++) await bodyOf(await ask(peer));
    const [calledOff, ...later] = ports.slice(6);
    expect(later).not.toContain(calledOff);
  });

  test('a request aborted before the response head rejects with the reason', async () => {
    await using peer = await open(connect, () => {});
    const signal = new Cancellation();
    const asked = expect(ask(peer, { signal })).rejects.toThrow('enough');
    const { socket } = await peer.first();
    signal.abort(new Error('enough'));
    await asked;
    await once(socket, 'close');
    await expect(ask(peer, { signal })).rejects.toThrow('enough');
  });

  test('a request aborted later ends its body with the reason', async () => {
    await using peer = await open(connect, (_, response) => response.write('some'));
    const signal = new Cancellation();
    const body = bodyOf(await ask(peer, { signal }));
    const { socket } = await peer.first();
    signal.abort(new Error('enough'));
    expect(await body).toEqual({ kind: 'broken', reason: 'enough' });
    await once(socket, 'close');
  });

  test('a body that breaks off ends with an error', async () => {
    await using peer = await open(connect, (_, response) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('some', () => response.destroy());
    });
    expect(await bodyOf(await ask(peer))).toMatchObject({ kind: 'broken' });
  });

  test('a server that hangs up, does not speak HTTP or is not there causes an error', async () => {
    await using rude = await open(connect, ({ socket }) => void socket.destroy());
    await expect(ask(rude)).rejects.toThrow();
    await using odd = await open(connect, ({ socket }) => void socket.end('SSH-2.0-x\r\n'));
    await expect(ask(odd)).rejects.toThrow();
    await rude.close();
    await expect(ask(rude)).rejects.toThrow('ECONNREFUSED');
    await expect(ask(odd, { headers: { 'x-odd': 'a\nb' } })).rejects.toThrow();
  });

  test('destroy aborts open requests', async () => {
    await using peer = await open(connect, (_, response) => response.write('some'));
    const body = bodyOf(await ask(peer));
    await peer.connections.destroy();
    expect(await body).toMatchObject({ kind: 'broken' });
  });
});

test('after the first requests undici takes over, and open requests continue', async () => {
  await using peer = await open(
    (origin) => connectionsTo(origin, undefined, 2),
    (request, response) => {
      if (request.url === '/stays') response.write('some');
      else response.end();
    },
  );
  const stays = await ask(peer, { path: '/stays', method: 'GET' });
  const byUndici = async (): Promise<boolean> => {
    await bodyOf(await ask(peer));
    return peer.seen.at(-1)!.rawHeaders[0] === 'host'; // node:http writes it as it is written in the standard
  };
  expect(await byUndici()).toBe(false);
  await expect.poll(byUndici).toBe(true);
  await peer.connections.destroy();
  expect(await bodyOf(stays)).toMatchObject({ kind: 'broken' });
});

interface Peer extends AsyncDisposable {
  connections: HttpConnections;
  seen: IncomingMessage[];
  first(): Promise<IncomingMessage>;
  close(): Promise<void>;
}

async function open(
  connect: (origin: string) => HttpConnections,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Peer> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    void handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connections = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  const first = async (): Promise<IncomingMessage> => {
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    return seen[0]!;
  };
  const dispose = async (): Promise<void> => {
    await connections.destroy();
    await close();
  };
  return { connections, seen, first, close, [Symbol.asyncDispose]: dispose };
}

function ask({ connections }: Peer, options: Partial<HttpExchangeOptions> = {}): Promise<UpstreamResponse> {
  return connections.exchange({ path: '/mcp', method: 'POST', headers: {}, signal: new Cancellation(), ...options });
}

function bodyOf({ body }: UpstreamResponse): Promise<BodyContent> {
  return new Promise((resolve) => readResponseBody(body, 1000, resolve));
}
