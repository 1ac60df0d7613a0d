// The official SDK on node:http as its README wires it: host and origin guards, then by era a handler per request
// (stateless) or a transport per session (handshake), each with its defaults.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { sdkServer } from './sdk-server.mjs';
import { ready } from './usage.mjs';

const hostIsFine = localhostHostValidation();
const originIsFine = localhostOriginValidation();
const stateless = toNodeHandler(createMcpHandler(sdkServer, { legacy: 'reject' }));
const sessions = new Map();

const server = createServer(async (request, response) => {
  if (!hostIsFine(request, response) || !originIsFine(request, response)) return;
  // By header: its own isLegacyRequest() would read and classify each body once more.
  if (request.headers['mcp-protocol-version'] === '2026-07-28') return stateless(request, response);
  const transport = sessions.get(request.headers['mcp-session-id']) ?? (await openSession());
  await transport.handleRequest(request, response);
});

async function openSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await sdkServer().connect(transport);
  return transport;
}

server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${server.address().port}/mcp`));
