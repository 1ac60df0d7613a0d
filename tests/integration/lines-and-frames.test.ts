// Bad input on stdio and WebSocket, where both eras share one channel and a mistake must not end it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type WebSocket from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSocket } from '../helpers/http-wire.ts';
import type { Answer } from '../helpers/http-wire.ts';
import { socketWire, stdioWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { ask, leaks, modern, rpc } from '../helpers/mcp-http.ts';
import { spawnStdio, startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import { until, within } from '../helpers/until.ts';

const LIMITS = { maxRequestBytes: 100_000 };

let server: ServerProcess;
beforeAll(async () => {
  server = await startStorm({ limits: LIMITS });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

interface Peer extends AsyncDisposable {
  wire: Wire;
}

const OPEN: Record<string, () => Promise<Peer>> = {
  stdio: async () => {
    const child = spawnStdio('storm', ['--limits', JSON.stringify(LIMITS)]);
    return { wire: stdioWire(child), [Symbol.asyncDispose]: () => exited(child) };
  },
  WebSocket: async () => {
    const { wire, socket } = await socketWire(server.port);
    return { wire, [Symbol.asyncDispose]: () => closed(socket) };
  },
};

async function exited(child: ChildProcess): Promise<void> {
  child.stdin!.end();
  if (child.exitCode === null && child.signalCode === null) await within('the server to exit', once(child, 'exit'));
  expect(child.exitCode).toBe(0);
}

async function closed(socket: WebSocket): Promise<void> {
  socket.close();
  if (socket.readyState !== socket.CLOSED) await within('the socket to close', once(socket, 'close'));
}

const textOf = ({ result }: Answer) => result?.content?.[0]?.text;

describe.each(Object.entries(OPEN))('%s', (kind, open) => {
  it('what is not a message is answered, and the next message is served', async () => {
    await using peer = await open();
    const { wire } = peer;
    const odd = [
      '{',
      'hello',
      '7',
      '[]',
      '{"jsonrpc":"1.0","id":"v","method":"ping"}',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      '{"jsonrpc":"2.0","id":"p","method":"ping","params":[]}',
    ];
    for (const text of odd) wire.write(text);
    expect((await wire.request('ping')).result).toEqual({});
    expect(wire.messages.map(({ id, error }) => [id, error?.code]).slice(0, -1)).toEqual([
      [null, -32700],
      [null, -32700],
      [null, -32600],
      [null, -32600],
      ['v', -32600],
      [null, -32600],
      ['p', -32602],
    ]);
    for (const message of wire.messages) expect(leaks(message)).toBe(false);
  });

  it('requests before initialize, a second initialize and unknown methods are refused by id', async () => {
    await using peer = await open();
    const { wire } = peer;
    expect((await wire.request('tools/list')).error!.code).toBe(-32600);
    await wire.initialize();
    expect((await wire.request('initialize', { protocolVersion: '2025-11-25' })).error!.code).toBe(-32600);
    expect((await wire.request('no/such')).error).toMatchObject({ code: -32601, data: 'Unknown method: no/such' });
    expect((await wire.call('echo', { text: 'x' })).result!.content![0]!.text).toBe('x');
  });

  it('1 and "1" are two requests; the same id twice in flight is refused', async () => {
    await using peer = await open();
    const { wire } = peer;
    await wire.initialize();
    const call = (id: string | number, key: string) =>
      wire.write(rpc('tools/call', { name: 'wait', arguments: { key } }, id));
    call(1, 'number');
    call('1', 'text');
    await until('both to run', async () => textOf(await wire.call('state', { key: 'text' })) === 'running');
    call(1, 'again');
    const refusal = await wire.answerTo(1);
    expect(refusal.error).toMatchObject({ code: -32600, data: 'Request id 1 is already in flight' });
    wire.messages.length = 0;
    for (const key of ['text', 'number']) await wire.call('release', { key });
    expect(textOf(await wire.answerTo(1))).toBe('waited for number');
    expect(textOf(await wire.answerTo('1'))).toBe('waited for text');
  });

  it('answers nobody waits for change nothing', async () => {
    await using peer = await open();
    const { wire } = peer;
    await wire.initialize();
    for (const id of ['ask-0', 7, 'x']) wire.write({ jsonrpc: '2.0', id, result: { action: 'accept' } });
    wire.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nothing' } });
    expect((await wire.request('ping')).result).toEqual({});
  });

  it('50 calls at once are each answered once', async () => {
    await using peer = await open();
    const { wire } = peer;
    await wire.initialize();
    const calls = Array.from({ length: 50 }, (_, n) =>
      wire.request('tools/call', { name: 'echo', arguments: { text: `${n}` } }, `call-${n}`),
    );
    const texts = (await Promise.all(calls)).map(({ result }) => result!.content![0]!.text);
    expect(texts).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`));
    await wire.request('ping');
    expect(new Set(wire.messages.map(({ id }) => id)).size).toBe(wire.messages.length);
  });

  it('discover does not settle the era: a stateless call and an initialize may both follow', async () => {
    await using peer = await open();
    const { wire } = peer;
    const send = (method: string, params = {}) => {
      const { body } = modern(method, params);
      wire.write(body);
      return wire.answerTo(body.id);
    };
    expect((await send('server/discover')).result!.supportedVersions).toEqual(['2026-07-28']);
    expect((await send('tools/call', { name: 'echo', arguments: { text: 'a' } })).result!.resultType).toBe('complete');
    expect((await wire.initialize()).result!.protocolVersion).toBe('2025-11-25');
    expect((await send('tools/call', { name: 'echo', arguments: { text: 'b' } })).result).not.toHaveProperty(
      'resultType',
    );
  });

  it('cancelled requests of the stateless era are cancelled in the handler and never answered', async () => {
    await using peer = await open();
    const { wire } = peer;
    const { body } = modern('tools/call', { name: 'wait', arguments: { key: `cancel-${kind}` } });
    const state = async () => {
      const asked = modern('tools/call', { name: 'state', arguments: { key: `cancel-${kind}` } });
      wire.write(asked.body);
      return (await wire.answerTo(asked.body.id)).result!.content![0]!.text;
    };
    wire.write(body);
    await until('it to run', async () => (await state()) === 'running');
    wire.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: body.id } });
    await until('it to be cancelled', async () => (await state()) === 'cancelled');
    expect(wire.messages.some(({ id }) => id === body.id)).toBe(false);
  });
});

describe('stdio alone', () => {
  it('a line that is too long is refused and the next one served', async () => {
    await using peer = await OPEN.stdio!();
    peer.wire.write(`{"x":"${'y'.repeat(LIMITS.maxRequestBytes * 3)}"}`);
    expect((await peer.wire.request('ping')).result).toEqual({});
    expect(peer.wire.messages[0]).toMatchObject({ id: null, error: { code: -32600 } });
  });

  it('bytes that are not UTF-8, and a message cut anywhere, do no harm', async () => {
    const child = spawnStdio('demo');
    const wire = stdioWire(child);
    child.stdin!.write(Buffer.from([0xff, 0xfe, 0x0a]));
    for (const byte of Buffer.from(`${JSON.stringify(rpc('ping', undefined, 'ünï'))}\n`))
      child.stdin!.write(Buffer.of(byte));
    expect((await wire.answerTo('ünï')).result).toEqual({});
    expect(wire.messages[0]!.error!.code).toBe(-32700);
    await exited(child);
  });

  it('the end of input: what was asked is answered, open questions and listen streams are given up, then it exits', async () => {
    const child = spawnStdio('storm');
    const wire = stdioWire(child);
    wire.write(modern('subscriptions/listen', { notifications: { toolsListChanged: true } }).body);
    await wire.initialize('2025-11-25', { elicitation: {} });
    wire.write(rpc('tools/call', { name: 'ask' }, 'asking'));
    await wire.find('the question', ({ method }) => method === 'elicitation/create');
    child.stdin!.end(JSON.stringify(rpc('tools/call', { name: 'echo', arguments: { text: 'last' } }, 'last')));
    expect((await wire.answerTo('last')).result!.content![0]!.text).toBe('last');
    expect((await wire.answerTo('asking')).error).toMatchObject({ message: 'Request cancelled' });
    await exited(child);
  });
});

describe('WebSocket alone', () => {
  it('a binary frame is refused; one that is too large ends this connection and no other', async () => {
    const { wire, socket } = await socketWire(server.port);
    socket.send(Buffer.from('{}'));
    expect((await wire.find('the refusal', ({ error }) => error !== undefined)).error!.code).toBe(-32700);
    socket.send('x'.repeat(LIMITS.maxRequestBytes + 1));
    await until('the connection to end', () => wire.closed);
    expect(await ask(server.url, 'echo', { text: 'y' })).toBe('y');
  });

  it('clients that break off their upgrade, or offer a broken one, hurt nobody', async () => {
    const head = (path: string, more = '') =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${more}\r\n`;
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
    const heads = [
      head('/ws'),
      head('/nowhere', key),
      head('/ws', `Origin: https://evil.example\r\n${key}`),
      head('/ws', key),
      head('/ws', 'Sec-WebSocket-Version: 99\r\n'),
    ];
    for (let round = 0; round < 10; round++) {
      for (const text of heads) {
        const socket = await openSocket(server.port);
        socket.write(text);
        if (round % 2 === 0) await until('an answer', () => socket.text().includes('\r\n\r\n'));
        socket.resetAndDestroy();
      }
    }
    expect(await ask(server.url, 'echo', { text: 'z' })).toBe('z');
    expect(server.child.exitCode).toBeNull();
  });

  it('a refused upgrade is closed though the client never closes its end', async () => {
    const socket = await openSocket(server.port);
    socket.write('GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    await within('the server to end it', once(socket, 'end'));
    expect(socket.text()).toMatch(/^HTTP\/1\.1 404 /);
    // A socket that is really closed answers with a reset.
    await until('the reset', () => socket.destroyed || (socket.write('more'), false));
  });

  it('half a frame and silence, then nothing: the others are served', async () => {
    const socket = await openSocket(server.port);
    socket.write(
      'GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await until('the upgrade', () => socket.text().includes('101'));
    socket.write(Buffer.from([0x81, 0xfe, 0x10]));
    expect(await ask(server.url, 'echo', { text: 'a' })).toBe('a');
    socket.end();
    await within('the end of it', once(socket, 'close'));
  });
});
