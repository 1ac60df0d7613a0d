// The servers with the behaviours on a loopback port: `{ url, close }`. Bodies are recorded before a server sees them.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { InMemoryEventStore } from './event-store.mjs';
import { createRecord } from './record.mjs';

export const SERVE_HTTP = {
  async v1(file) {
    const [{ createV1Behaviours }, { StreamableHTTPServerTransport }] = await Promise.all([
      import('./server-v1.mjs'),
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
    ]);
    const record = createRecord(file);
    const sessions = createSessions(
      () => createV1Behaviours(record),
      (options) => new StreamableHTTPServerTransport(options),
    );
    return listen(sessions, record);
  },

  /** Sessions for the handshake, and beside them the handler of SDK v2 for requests that stand alone. */
  async v2(file) {
    const [{ createV2Behaviours }, { createMcpHandler, isLegacyRequest }, node] = await Promise.all([
      import('./server-v2.mjs'),
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/node'),
    ]);
    const record = createRecord(file);
    const modern = createMcpHandler(() => createV2Behaviours(record, { notifier: notifierOf(() => modern) }), {
      legacy: 'reject',
    });
    const serveModern = node.toNodeHandler(modern);
    const serveLegacy = createSessions(
      () => createV2Behaviours(record),
      (options) => new node.NodeStreamableHTTPServerTransport(options),
    );
    const host = await listen(async (request, response, body) => {
      const isLegacy = await isLegacyRequest(await node.toWebRequest(request, body), body);
      return (isLegacy ? serveLegacy : serveModern)(request, response, body);
    }, record);
    return {
      ...host,
      async close() {
        await modern.close();
        await host.close();
      },
    };
  },
};

/** A server of one request cannot push: the handler tells those that listen. */
function notifierOf(handler) {
  const tell = {
    'notifications/resources/updated': ({ uri }) => handler().notify.resourceUpdated(uri),
    'notifications/tools/list_changed': () => handler().notify.toolsChanged(),
    'notifications/prompts/list_changed': () => handler().notify.promptsChanged(),
    'notifications/resources/list_changed': () => handler().notify.resourcesChanged(),
  };
  return async (method, params) => {
    await tell[method]?.(params);
  };
}

function createSessions(createBehaviours, createTransport) {
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

async function listen(handler, record) {
  const server = createServer(async (request, response) => {
    try {
      const body = request.method === 'POST' ? JSON.parse(await readText(request)) : undefined;
      if (body) record({ message: body });
      await handler(request, response, body);
    } catch (error) {
      process.stderr.write(`a server of the diff failed: ${error.stack}\n`);
      response.destroy();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
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
