// An SDK v1 server that reports what it knows of its client, and whose tools take their time. On stdio; with `--http` on a
// loopback port, which it prints as its first line.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const FORM = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

function create(seen) {
  const server = new McpServer({ name: 'moody', version: '1' }, { capabilities: { tools: {} } });
  const tool = (name, inputSchema, handler) => server.registerTool(name, { inputSchema }, handler);
  tool('told', {}, () => text(seen.opening));
  tool('pid', {}, () => text(String(process.pid)));
  tool('ping', {}, async (_, extra) => {
    const pong = await extra.sendRequest({ method: 'ping', params: { _meta: { 'acme/ping': 1 } } }, z.looseObject({}));
    return text(pong);
  });
  tool('ask', {}, async (_, extra) => {
    const params = { message: 'Where?', requestedSchema: FORM };
    const request = { method: 'elicitation/create', params };
    return text(await extra.sendRequest(request, z.looseObject({}), { timeout: 600_000 }));
  });
  tool('slow', { ms: z.number() }, async ({ ms }) => {
    await delay(ms);
    return text('slow and steady');
  });
  // The whole process stands still, as with an endless loop or a dead lock.
  tool('freeze', {}, () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
  tool('never', {}, () => new Promise(() => {}));
  return server;
}

async function connect(transport) {
  const seen = {};
  // The SDK keeps a handler that is already there, and calls it before its own.
  transport.onmessage = ({ method, params }) => void (method === 'initialize' && (seen.opening = params));
  await create(seen).connect(transport);
  return transport;
}

if (!process.argv.includes('--http')) await connect(new StdioServerTransport());
else {
  const sessions = new Map();
  const open = () => {
    const onsessioninitialized = (id) => void sessions.set(id, transport);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized });
    return connect(transport);
  };
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const transport = id === undefined ? await open() : sessions.get(id);
    if (transport) return transport.handleRequest(request, response);
    response.writeHead(404).end();
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
  process.stdin.resume().once('end', () => process.exit(0));
}
