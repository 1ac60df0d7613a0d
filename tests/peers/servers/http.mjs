// The reference servers on a loopback port. Each gives `{ origin, onStream?, close }`; `onStream` resolves when the
// client has opened the stream on which a server speaks by itself, where that matters.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

export const HTTP_SERVERS = {
  async parley(options) {
    const { createParleyServer } = await import('./parley.mjs');
    const server = createParleyServer(options);
    const { url } = await server.listen({ port: 0 });
    return { origin: new URL(url).origin, close: () => server.close() };
  },

  v1: (options) => serveV1(options, { enableJsonResponse: false }),
  'v1-json': (options) => serveV1({ ...options, related: false }, { enableJsonResponse: true }),

  async 'v1-sse'(options) {
    const [{ createV1Server }, { SSEServerTransport }] = await Promise.all([
      import('./v1.mjs'),
      import('@modelcontextprotocol/sdk/server/sse.js'),
    ]);
    return serveSse(() => createV1Server(options), SSEServerTransport);
  },

  /** One endpoint for both eras, a server for each request. */
  async 'v2-handler'(options) {
    const [{ createV2Factory }, { createMcpHandler }, { toNodeHandler }] = await Promise.all([
      import('./v2.mjs'),
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/node'),
    ]);
    const handler = createMcpHandler(
      createV2Factory({
        ...options,
        touch: (uri) => handler.notify.resourceUpdated(uri),
        grow: () => handler.notify.toolsChanged(),
      }),
    );
    const host = await listen(toNodeHandler(handler));
    return {
      ...host,
      async close() {
        await handler.close();
        await host.close();
      },
    };
  },

  async v2(options) {
    const [{ createV2Factory }, { NodeStreamableHTTPServerTransport }] = await Promise.all([
      import('./v2.mjs'),
      import('@modelcontextprotocol/node'),
    ]);
    return serveSessions(createV2Factory(options), (callbacks) => new NodeStreamableHTTPServerTransport(callbacks));
  },

  async 'v2-sse'(options) {
    const [{ createV2Factory }, { SSEServerTransport }] = await Promise.all([
      import('./v2.mjs'),
      import('@modelcontextprotocol/server-legacy/sse'),
    ]);
    return serveSse(createV2Factory(options), SSEServerTransport);
  },
};

async function serveV1(options, transportOptions) {
  const [{ createV1Server }, { StreamableHTTPServerTransport }] = await Promise.all([
    import('./v1.mjs'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);
  return serveSessions(
    () => createV1Server(options),
    (callbacks) => new StreamableHTTPServerTransport({ ...callbacks, ...transportOptions }),
  );
}

async function serveSessions(createServer, createTransport) {
  const transports = new Map();
  let opened;
  const stream = new Promise((resolve) => (opened = resolve));
  const host = await listen(async (request, response) => {
    let transport = transports.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = createTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      await createServer().connect(transport);
    }
    if (request.method === 'GET') onHead(response, opened);
    await transport.handleRequest(request, response);
  });
  return { ...host, onStream: () => stream };
}

/** The transport has taken the stream over when it sends its head. */
function onHead(response, callback) {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (...head) => {
    callback();
    return writeHead(...head);
  };
}

async function serveSse(createServer, Transport) {
  const transports = new Map();
  return listen(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const transport = new Transport('/messages', response);
      transports.set(transport.sessionId, transport);
      return createServer().connect(transport);
    }
    const transport = transports.get(url.searchParams.get('sessionId'));
    if (transport) return transport.handlePostMessage(request, response);
    response.writeHead(404).end();
  });
}

async function listen(handler) {
  const server = createServer((request, response) => {
    Promise.resolve(handler(request, response)).catch((error) => {
      process.stderr.write(`peer failed: ${error.stack}\n`);
      response.destroy();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
