// The ways to reach a raw server: `listen(server, transport)` gives the address for a gateway or a client, and what a conversation can do to the
// transport. The server itself stays in this process; on stdio a small process (pipe.mjs) carries its lines.
import { createServer as createHttpServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { duplexDelivery, onFreePort } from './delivery.mjs';
import { listenHttp } from './listen-http.mjs';
import { listenSse } from './listen-sse.mjs';

const PIPE = fileURLToPath(new URL('pipe.mjs', import.meta.url));
const LISTEN = { stdio: listenStdio, http: listenHttp, sse: listenSse, ws: listenWs };

/** `{ address: { command, args } | { url }, dropSessions(), die(), close() }`. */
export async function listen(server, transport) {
  return LISTEN[transport](server);
}

async function listenStdio(server) {
  const sockets = new Set();
  const tcp = createSocketServer((socket) => {
    const conn = `stdio ${sockets.size + 1}`;
    sockets.add(socket);
    const send = (text) => socket.write(`${text}\n`);
    const die = () => socket.destroy();
    socket.on('error', () => {}).on('close', () => server.closed({ conn }));
    createInterface({ input: socket }).on('line', (line) => server.take(line, duplexDelivery({ conn, send, die })));
  });
  const port = await onFreePort(tcp);
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: { command: process.execPath, args: [PIPE, String(port)] },
    dropSessions: destroyAll,
    die: destroyAll,
    close() {
      destroyAll();
      tcp.close();
    },
  };
}

async function listenWs(server) {
  const http = createHttpServer();
  const sockets = new WebSocketServer({ server: http });
  let count = 0;
  sockets.on('connection', (socket) => {
    const conn = `ws ${++count}`;
    const delivery = duplexDelivery({ conn, send: (text) => socket.send(text), die: () => socket.terminate() });
    socket.on('error', () => {}).on('close', () => server.closed({ conn }));
    socket.on('message', (data) => server.take(String(data), delivery));
  });
  const port = await onFreePort(http);
  const terminateAll = () => {
    for (const socket of sockets.clients) socket.terminate();
  };
  return {
    address: { url: `ws://127.0.0.1:${port}/ws` },
    dropSessions: terminateAll,
    die: terminateAll,
    close() {
      terminateAll();
      http.close();
    },
  };
}
