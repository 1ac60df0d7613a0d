// HTTP+SSE of 2024-11-05: one stream for everything the server says, and POSTs for what the client says.
import { createServer } from 'node:http';
import { duplexDelivery, onFreePort } from './delivery.mjs';
import { bodyOf } from './event-streams.mjs';

export async function listenSse(server) {
  const streams = new Map();
  let count = 0;
  const http = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const conn = `sse ${++count}`;
      streams.set(conn, response);
      response.on('close', () => server.closed({ conn }));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write(`event: endpoint\ndata: /message?conn=${encodeURIComponent(conn)}\n\n`);
    }
    const text = await bodyOf(request);
    const conn = url.searchParams.get('conn');
    const stream = streams.get(conn);
    if (request.method !== 'POST' || !stream) return response.writeHead(stream ? 405 : 404).end();
    response.writeHead(202).end();
    const send = (line) => stream.write(`event: message\ndata: ${line}\n\n`);
    const die = () => {
      streams.delete(conn);
      stream.destroy();
    };
    server.take(text, duplexDelivery({ conn, send, die }));
  });
  const port = await onFreePort(http);
  const destroyAll = () => {
    for (const stream of streams.values()) stream.destroy();
    streams.clear();
  };
  return {
    address: { url: `http://127.0.0.1:${port}/sse`, transport: 'http+sse' },
    dropSessions: destroyAll,
    die: destroyAll,
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}
