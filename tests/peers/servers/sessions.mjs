// Servers of the official SDKs on a loopback port, as their documentation wires them.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { InMemoryEventStore } from './event-store.mjs';

/** A transport of an SDK for each session, with a store so that streams can be resumed. */
export function createSessions(createBehaviours, createTransport) {
  const transports = new Map();
  return async (request, response, body) => {
    let transport = transports.get(request.headers['mcp-session-id']);
    if (!transport) {
      if (request.headers['mcp-session-id']) return response.writeHead(404).end();
      transport = createTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new InMemoryEventStore(),
        retryInterval: 50,
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      await createBehaviours().connect(transport);
    }
    await transport.handleRequest(request, response, body);
  };
}

/** `handler(request, response, body)` on a loopback port; `onBody` sees each body first. */
export async function listen(handler, { port = 0, onBody } = {}) {
  const server = createServer(async (request, response) => {
    try {
      const body = request.method === 'POST' ? JSON.parse(await readText(request)) : undefined;
      if (body) onBody?.(body);
      await handler(request, response, body);
    } catch (error) {
      process.stderr.write(`a server failed: ${error.stack}\n`);
      response.destroy();
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

async function readText(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
