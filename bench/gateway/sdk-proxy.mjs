// `node sdk-proxy.mjs [--port N] URL | COMMAND…`: a proxy as one makes it with the official SDK v1: a Client to the server, a
// Server for each client, every request handed on as it is. Without --port it serves on stdio.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';

const given = process.argv.slice(2);
const port = given[0] === '--port' ? Number(given.splice(0, 2)[1]) : undefined;
const [target, ...args] = given;

const client = new Client({ name: 'sdk-proxy', version: '1.0.0' });
await client.connect(
  target.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args }),
);

function proxy() {
  const server = new Server(client.getServerVersion(), { capabilities: client.getServerCapabilities() });
  server.fallbackRequestHandler = (request) => client.request(request, ResultSchema);
  return server;
}

if (port === undefined) await proxy().connect(new StdioServerTransport());
else listen();

function listen() {
  const sessions = new Map();
  const server = createServer(async (request, response) => {
    const known = sessions.get(request.headers['mcp-session-id']);
    await (known ?? (await openSession(sessions))).handleRequest(request, response);
  });
  server.listen(port, '127.0.0.1');
}

async function openSession(sessions) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await proxy().connect(transport);
  return transport;
}
