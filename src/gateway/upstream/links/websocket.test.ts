import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { answer } from '../fixtures/peer.mjs';
import { serve } from '../fixtures/serve.mjs';
import { createWebSocketLink, type WebSocketLinkOptions } from './websocket.ts';
import { describeLink, later, note, started, RecordedEvents, type LinkPeer } from '../upstream.contract.ts';

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
