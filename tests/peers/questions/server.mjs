// A server that asks, as a process: `node server.mjs v1|v2|flow stdio|http EVENTS-URL`. On HTTP it prints its URL.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const [kind, transport, events] = process.argv.slice(2);
const SERVE = {
  async 'v1 stdio'() {
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const { createV1 } = await import('./server-v1.mjs');
    await createV1(events).connect(new StdioServerTransport());
    process.stdin.once('end', () => process.exit(0));
  },
  async 'flow stdio'() {
    const { serveFlow } = await import('./server-flow.mjs');
    serveFlow(events);
  },
  async 'v2 stdio'() {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    const { createV2 } = await import('./server-v2.mjs');
    serveStdio(() => createV2(events));
  },
  async 'v1 http'() {
    const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
    const { createV1 } = await import('./server-v1.mjs');
    const transports = new Map();
    listen(async (request, response) => {
      const known = transports.get(request.headers['mcp-session-id']);
      if (known) return known.handleRequest(request, response);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      await createV1(events).connect(transport);
      return transport.handleRequest(request, response);
    });
  },
  async 'v2 http'() {
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    const { toNodeHandler } = await import('@modelcontextprotocol/node');
    const { createV2 } = await import('./server-v2.mjs');
    listen(toNodeHandler(createMcpHandler(() => createV2(events))));
  },
};

await SERVE[`${kind} ${transport}`]();

function listen(handler) {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
