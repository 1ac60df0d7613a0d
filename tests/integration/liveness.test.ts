// Peers that are gone without a word: sockets that stay open and answer nothing any more, on both sides of a gateway; and
// sessions that are opened and never ended.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectSocket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer as createMcpServer } from 'mcp-parley';
import { refusal } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { openSession, rpc } from '../helpers/mcp-http.ts';
import { until, within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const OFTEN = { keepAliveMs: 100 };

/** A server in this process with a tool that says when it was called off. */
async function listening(limits: object) {
  const server = createMcpServer({ name: 'live', version: '1', log, limits });
  const calls = { running: 0, cancelled: 0 };
  server.tool('wait', {}, async (_args, call) => {
    calls.running++;
    await once(call.signal, 'abort');
    calls.cancelled++;
    return 'called off';
  });
  server.tool('hello', {}, () => 'hello');
  const { port, url } = await server.listen({ port: 0 });
  return { port, url, calls, [Symbol.asyncDispose]: () => server.close() };
}

/** A WebSocket client by hand: it sends, and never answers a ping. */
async function silentClient(port: number) {
  const socket = connectSocket(port, '127.0.0.1').on('error', () => {});
  const lines = ['Host: 127.0.0.1', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
  socket.write(`GET /ws HTTP/1.1\r\n${lines.join('\r\n')}\r\nSec-WebSocket-Key: ${btoa('0123456789abcdef')}\r\n\r\n`);
  await within('the upgrade', once(socket, 'data'));
  const say = (message: object): void => {
    const text = Buffer.from(JSON.stringify(message));
    const head = Buffer.from([0x81, 0x80 | 126, text.length >> 8, text.length & 0xff, 0, 0, 0, 0]); // masked with zeros
    socket.write(Buffer.concat([head, text]));
  };
  return { socket: socket.resume(), say };
}

/** A WebSocket server by hand: it takes everything, and answers nothing but `initialize`. */
async function silentServer() {
  const http = createServer();
  http.on('upgrade', ({ headers }, socket) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Protocol: mcp'];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\nSec-WebSocket-Accept: `);
    socket.write(`${accept.digest('base64')}\r\n\r\n`);
    socket.on('error', () => {}).resume();
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    [Symbol.dispose]: () => {
      http.close();
      http.closeAllConnections();
    },
  };
}

describe('a WebSocket', () => {
  test('whose client is gone without a word is closed, and its calls are cancelled', async () => {
    await using server = await listening(OFTEN);
    const { socket, say } = await silentClient(server.port);
    const closed = once(socket, 'close');
    say(
      rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }),
    );
    say(rpc('tools/call', { name: 'wait', arguments: {} }));
    await until('the call to run', () => server.calls.running > 0);
    await within('the socket to be closed', closed);
    await until('the call to be called off', () => server.calls.cancelled > 0);
  });

  test('whose client answers pings stays open, however long it says nothing', async () => {
    await using server = await listening(OFTEN);
    const { wire, socket } = await socketWire(server.port);
    await wire.initialize();
    let pings = 0;
    socket.on('ping', () => pings++);
    await until('ten pings', () => pings >= 10);
    expect((await wire.call('hello')).result).toMatchObject({ content: [{ text: 'hello' }] });
    socket.terminate();
  });

  test('whose server is gone without a word fails its calls long before their time', async () => {
    using server = await silentServer();
    const error = await refusal(server.url, { limits: OFTEN, timeoutMs: 1_000_000, revision: '2025-11-25' });
    expect(error).toMatchObject({ code: 'UPSTREAM_CLOSED' });
    expect(error.message).toContain('does not answer pings');
  });

  test('to a server that answers pings stays open behind a gateway', async () => {
    await using server = await listening(OFTEN);
    const url = `ws://127.0.0.1:${server.port}/ws`;
    const gateway = createGateway({ servers: { live: url }, log, limits: OFTEN });
    const { url: own } = await gateway.listen({ port: 0 });
    const session = await openSession(own);
    const states = new Set<string | undefined>();
    const longEnough = Date.now() + 10 * OFTEN.keepAliveMs;
    await until('ten pings', async () => {
      expect((await session.call('hello')).json.result).toMatchObject({ content: [{ text: 'hello' }] });
      states.add((gateway.servers[0]!.target as { status?: { state: string } }).status?.state);
      return Date.now() > longEnough;
    });
    expect([...states]).toEqual(['ready']);
    await gateway.close();
  });
});

describe('a caller that opens sessions and never ends them', () => {
  test('loses its oldest idle one, and none that is listened on', async () => {
    await using server = await listening({ maxSessionsPerCaller: 3 });
    const listened = await openSession(server.url);
    const stream = await listened.stream();
    const [oldest, newer] = [await openSession(server.url), await openSession(server.url)];
    const newest = await openSession(server.url);
    const statuses = await Promise.all([oldest, newer, newest, listened].map((one) => one.request('ping')));
    expect(statuses.map(({ status }) => status)).toEqual([404, 200, 200, 200]);
    expect(stream.ended).toBe(false);
    stream.close();
  });

  test('is refused when all of them are in use, and told by which limit', async () => {
    await using server = await listening({ maxSessionsPerCaller: 1 });
    const session = await openSession(server.url);
    const stream = await session.stream();
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} }));
    const refused = await fetch(server.url, { method: 'POST', headers, body });
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('maxSessionsPerCaller')]);
    stream.close();
  });
});
