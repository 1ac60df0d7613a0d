// A relay in front of an HTTP server that records the messages of every MCP transport passing through: Streamable HTTP,
// HTTP+SSE and WebSocket. It changes nothing: headers, bytes, ends and aborts go through as they come.
import { createServer, request as sendRequest } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { EventReader } from './event-reader.mjs';

/** `target`: origin to relay to. Records carry `on`, the conversation they belong to, and the version header as `hint`. */
export async function startHttpTap(target, record, { port = 0 } = {}) {
  let count = 0;
  const open = new Set();
  const server = createServer((incoming, outgoing) =>
    relay({ target, incoming, outgoing, record, name: `x${++count}` }),
  );
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => false });
  server.on('upgrade', (incoming, socket, head) => {
    relaySocket({ target, incoming, socket, head, sockets, record, name: `ws${++count}`, open });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      for (const one of open) one.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function relay({ target, incoming, outgoing, record, name }) {
  const { method, url, headers } = incoming;
  const upstream = sendRequest(new URL(url, target), { method, headers, agent: false });
  const body = [];
  incoming.on('data', (chunk) => body.push(chunk));
  incoming.pipe(upstream);
  incoming.on('error', () => upstream.destroy());
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => !outgoing.writableFinished && upstream.destroy());
  upstream.on('response', (answer) => {
    const exchange = {
      on: answer.headers['mcp-session-id'] ?? headers['mcp-session-id'] ?? sessionIn(url) ?? name,
      hint: headers['mcp-protocol-version'],
      record,
    };
    tell(exchange, 'client', Buffer.concat(body).toString());
    pass(answer, outgoing, listen(exchange, answer.headers['content-type'] ?? ''));
  });
}

function pass(answer, outgoing, { onChunk, onEnd }) {
  const { connection, 'keep-alive': keepAlive, 'transfer-encoding': coding, ...headers } = answer.headers;
  outgoing.writeHead(answer.statusCode, headers);
  outgoing.flushHeaders();
  answer.on('data', (chunk) => {
    onChunk(chunk);
    if (!outgoing.write(chunk)) {
      answer.pause();
      outgoing.once('drain', () => answer.resume());
    }
  });
  answer.on('end', () => {
    onEnd();
    outgoing.end();
  });
  answer.on('error', () => outgoing.destroy());
}

function listen(exchange, type) {
  if (type.includes('text/event-stream')) {
    const reader = new EventReader(({ event, data }) => {
      if (event === 'endpoint') exchange.on = sessionIn(data) ?? exchange.on;
      else tell(exchange, 'server', data);
    });
    return { onChunk: (chunk) => reader.push(chunk), onEnd() {} };
  }
  const chunks = [];
  return {
    onChunk: (chunk) => chunks.push(chunk),
    onEnd: () => type.includes('json') && tell(exchange, 'server', Buffer.concat(chunks).toString()),
  };
}

function relaySocket({ target, incoming, socket, head, sockets, record, name, open }) {
  const { host, origin, authorization } = incoming.headers;
  const protocols = (incoming.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  const url = new URL(incoming.url, target.replace(/^http/, 'ws'));
  const headers = Object.fromEntries(Object.entries({ host, origin, authorization }).filter(([, value]) => value));
  const upstream = new WebSocket(url, protocols.filter(Boolean), { headers, perMessageDeflate: false });
  open.add(upstream);
  upstream.on('error', () => socket.destroy());
  upstream.on('unexpected-response', (_request, { statusCode, statusMessage }) => {
    socket.end(`HTTP/1.1 ${statusCode} ${statusMessage}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  upstream.once('open', () => {
    sockets.options.handleProtocols = () => upstream.protocol || false;
    sockets.handleUpgrade(incoming, socket, head, (client) => {
      open.add(client);
      join({ client, upstream }, (from, text) => tell({ on: name, record }, from, text));
    });
  });
}

function join({ client, upstream }, hear) {
  const link = (from, source, sink) => {
    source.on('message', (data, binary) => {
      hear(from, data.toString());
      if (sink.readyState === WebSocket.OPEN) sink.send(data, { binary });
    });
    source.on('close', (code) => (code === 1005 || code === 1006 ? sink.terminate() : sink.close(code)));
    source.on('error', () => sink.terminate());
  };
  link('client', client, upstream);
  link('server', upstream, client);
}

function tell({ on, hint, record }, from, text) {
  const message = parse(text);
  if (message !== undefined) record({ on, from, message, ...(hint && { hint }) });
}

/** Where messages of an HTTP+SSE session are posted. */
function sessionIn(url) {
  return /[?&]sessionId=([^&]+)/.exec(url)?.[1];
}

/** Only JSON is recorded as a message; the receiver's error for anything else is recorded, too. */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
