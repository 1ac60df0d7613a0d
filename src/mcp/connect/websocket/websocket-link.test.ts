import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { answer } from '../fixtures/peer.mjs';
import { serve } from '../fixtures/serve.mjs';
import { FragmentQueue, createWebSocketLink, type WebSocketLinkOptions } from './websocket-link.ts';
import {
  describeLink,
  later,
  note,
  started,
  RecordedEvents,
  type LinkPeer,
} from '../../../gateway/servers/upstream.contract.ts';

describeLink({
  name: 'WebSocket',
  connect: (limits) => peerOf(speak, { limits }),
  exempt: { oversize: 'a frame cannot be skipped unread: RFC 6455 has 1009 for it' },
});

test('the subprotocol is mcp, and headers go with the handshake', async () => {
  const arrived = later<unknown>();
  const look = (socket: WebSocket, headers: object): void => arrived.come([socket.protocol, headers]);
  await using _ = await started(() => peerOf(look, { headers: { authorization: 'Bearer x' } }));
  expect(await arrived.value).toMatchObject(['mcp', { authorization: 'Bearer x' }]);
});

test('a frame that comes with the handshake is not lost', async () => {
  await using peer = await started(() => peerOf((socket) => socket.send(note({ n: 1 }))));
  await peer.told.until(() => peer.told.notes().length === 1, 'the first frame');
});

test('a binary frame is garbage, and costs nothing else', async () => {
  await using peer = await started(() =>
    peerOf((socket) => {
      socket.send(Buffer.from(note({ n: 1 })));
      socket.send(note({ n: 2 }));
    }),
  );
  await peer.told.until(() => peer.told.notes().length === 1, 'the text frame');
  expect([peer.told.garbage, peer.told.notes()]).toEqual([['a binary frame'], [{ n: 2 }]]);
});

test('a frame over the limit ends the connection, and the reason says so', async () => {
  const limits = { maxResultBytes: 1000 };
  await using peer = await started(() => peerOf((socket) => socket.send('x'.repeat(2000)), { limits }));
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes[0]).toContain('Max payload size exceeded');
});

test("the server's code and message are the reason of the end", async () => {
  await using peer = await started(() => peerOf((socket) => socket.close(1012, 'restarting')));
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes).toEqual(['closed with 1012: restarting']);
});

test('everything that waits is refused when the server goes', async () => {
  const arrived = later<WebSocket>();
  await using peer = await started(() => peerOf((socket) => arrived.come(socket)));
  const socket = await arrived.value;
  socket.pause();
  const params = { text: 'x'.repeat(700_000) };
  const sent = Array.from({ length: 10 }, () => peer.link.send({ jsonrpc: '2.0', method: 'notifications/x', params }));
  const settled = Promise.allSettled(sent);
  socket.terminate();
  expect((await settled).at(-1)?.status).toBe('rejected');
});

test('closing does not wait for a server that never closes', async () => {
  await using peer = await started(() => peerOf((socket) => socket.pause()));
  await peer.link.close();
  expect(peer.told.closes).toHaveLength(1);
});

test('a handshake that is refused is a refusal with its status', async () => {
  await using server = await serve((_, response) => response.writeHead(401).end('no'));
  const link = createWebSocketLink({ url: server.url.replace('http', 'ws') });
  const told = new RecordedEvents();
  await expect(link.start(told)).rejects.toMatchObject({ name: 'HttpRefusal', status: 401 });
  await link.close();
  expect(told.closes).toEqual([]);
});

test('a server that is not there is named by its URL, without credentials and query', async () => {
  const server = await serve(() => undefined);
  await server.close();
  const url = `${server.url.replace('http://', 'ws://user:secret@')}?key=secret`;
  const link = createWebSocketLink({ url });
  const error = await link.start(new RecordedEvents()).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') });
  expect(link.name + String(error)).not.toContain('secret');
  await link.close();
});

test('a URL of another kind is refused at once', () => {
  for (const url of ['http://127.0.0.1', 'nonsense']) {
    expect(() => createWebSocketLink({ url })).toThrow(expect.objectContaining({ code: 'BAD_OPTION' }));
  }
});

function speak(socket: WebSocket): void {
  const out = {
    write: (frame: string) => socket.send(frame),
    die: () => socket.terminate(),
    isOver: () => socket.readyState !== socket.OPEN,
  };
  socket.on('message', (data) => answer(JSON.parse(String(data)), out));
}

async function peerOf(
  onSocket: (socket: WebSocket, headers: object) => void,
  options: Partial<WebSocketLinkOptions> = {},
): Promise<LinkPeer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket, { headers }) =>
    onSocket(
      socket.on('error', () => undefined),
      headers,
    ),
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const link = createWebSocketLink({ url: `ws://127.0.0.1:${port}/mcp`, ...options });
  const dispose = async (): Promise<void> => {
    await link.close();
    for (const socket of server.clients) socket.terminate();
    server.close();
    await once(server, 'close');
  };
  return { link, [Symbol.asyncDispose]: dispose };
}

const MUCH = 256 * 1024;

/** A socket that records its frames, and takes them when it is told to. */
function setUp() {
  const frames: { text: string; fin: boolean }[] = [];
  const waiting: { bytes: number; done: (error?: Error) => void }[] = [];
  const socket = {
    bufferedAmount: 0,
    send(text: string, { fin }: { fin: boolean }, done: (error?: Error) => void) {
      frames.push({ text, fin });
      waiting.push({ bytes: text.length, done });
      this.bufferedAmount += text.length;
    },
  };
  let taken = 0;
  const queue = new FragmentQueue(socket as never, () => taken++);
  const take = (error?: Error): void => {
    const { bytes, done } = waiting.shift()!;
    socket.bufferedAmount -= bytes;
    done(error);
  };
  return { queue, frames, take, taken: () => taken };
}

test('a small message is one frame, and leaves at once', async () => {
  const { queue, frames, take } = setUp();
  const sent = queue.send('small');
  expect(frames).toEqual([{ text: 'small', fin: true }]);
  take();
  await sent;
  expect(queue.length).toBe(0);
});

test('a large message leaves in fragments, and each that is taken shows that the server reads', async () => {
  const { queue, frames, take, taken } = setUp();
  const text = 'x'.repeat(2 * MUCH + 1);
  const sent = queue.send(text);
  const next = queue.send('next');
  expect([frames.length, queue.length]).toEqual([1, text.length + 4]);
  take();
  expect([taken(), frames.length]).toEqual([1, 2]);
  take();
  take();
  await sent;
  take();
  await next;
  expect(frames.map(({ fin }) => fin)).toEqual([false, false, true, true]);
  expect(
    frames
      .slice(0, 3)
      .map((frame) => frame.text)
      .join(''),
  ).toBe(text);
});

test('a character is not divided between two fragments', () => {
  const { queue, frames } = setUp();
  void queue.send(`${'x'.repeat(MUCH - 1)}😀`);
  queue.flush();
  expect(frames.map(({ text }) => text.length)).toEqual([MUCH - 1, 2]);
});

test('what waits for a socket that has closed is refused', async () => {
  const { queue, take } = setUp();
  const sent = queue.send('x'.repeat(MUCH + 1));
  take(new Error('closed'));
  take(new Error('closed'));
  await expect(sent).rejects.toThrow('closed');
});

test('what waits is counted in bytes', () => {
  const { queue } = setUp();
  void queue.send('x'.repeat(MUCH));
  void queue.send('中'.repeat(100));
  expect(queue.length).toBe(MUCH + 300);
});
