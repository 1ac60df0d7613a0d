// A server made with the official SDK v1 that says everything the protocol lets it say, with members of its own wherever there is
// room for them. On stdio; with `--http` on a loopback port, which it prints as its first line.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const MARK = { 'acme/mark': { deep: [1, 'two'] } };
const ANY = z.looseObject({});
const AcmeEcho = z.looseObject({ method: z.literal('acme/echo'), params: ANY.optional() });
const AcmeTold = z.looseObject({ method: z.literal('notifications/acme/told'), params: ANY.optional() });

function createChatty() {
  const server = new Server(
    { name: 'chatty', version: '1' },
    {
      capabilities: {
        tools: { listChanged: true },
        logging: {},
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
      },
      instructions: 'Chat',
    },
  );
  const heard = [];
  let visited = false;
  let calls = 0;
  const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  const tools = {
    async progress(_, extra) {
      const { progressToken } = extra._meta ?? {};
      const params = { progressToken, progress: 1, total: 2, message: 'half', _meta: MARK, acme: true };
      await extra.sendNotification({ method: 'notifications/progress', params });
      return text('done');
    },
    async log(_, extra) {
      const params = { level: 'warning', logger: 'chatty', data: { a: 1 }, _meta: MARK, acme: true };
      await extra.sendNotification({ method: 'notifications/message', params });
      return text('done');
    },
    async updated(_, extra) {
      const params = { uri: 'acme://nobody-subscribed', _meta: MARK, acme: true };
      await extra.sendNotification({ method: 'notifications/resources/updated', params });
      return text('done');
    },
    async listChanged() {
      await server.notification({ method: 'notifications/tools/list_changed', params: { _meta: MARK } });
      return text('done');
    },
    async news(_, extra) {
      await extra.sendNotification({ method: 'notifications/acme/news', params: { n: 1, _meta: MARK } });
      return text('done');
    },
    async lateNews() {
      setTimeout(() => void server.notification({ method: 'notifications/acme/news', params: { n: 2 } }), 50);
      return text('done');
    },
    async sample(_, extra) {
      const progress = [];
      const params = {
        messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
        maxTokens: 5,
        metadata: { of: 'chatty' },
        acme: true,
        _meta: MARK,
      };
      const answer = await extra.sendRequest({ method: 'sampling/createMessage', params }, ANY, {
        onprogress: (one) => {
          progress.push(one);
          void extra.sendNotification({ method: 'notifications/acme/news', params: { progressed: true } });
        },
      });
      return text({ answer, progress });
    },
    async elicit(_, extra) {
      const requestedSchema = { type: 'object', properties: { n: { type: 'number' } } };
      const params = { mode: 'form', message: 'How many?', requestedSchema, acme: true, _meta: MARK };
      return text(await extra.sendRequest({ method: 'elicitation/create', params }, ANY));
    },
    async refused(_, extra) {
      const params = { messages: [], maxTokens: 5 };
      const told = await extra.sendRequest({ method: 'sampling/createMessage', params }, ANY).catch((error) => error);
      return text({ code: told.code, message: told.message, data: told.data });
    },
    async ask(_, extra) {
      return text(await extra.sendRequest({ method: 'acme/ask', params: { n: 1, _meta: MARK } }, ANY));
    },
    async unknown(_, extra) {
      const told = await extra.sendRequest({ method: 'acme/unknown', params: {} }, ANY).catch((error) => error);
      return text({ code: told.code, message: told.message, data: told.data });
    },
    async hang(_, extra) {
      await extra.sendNotification({ method: 'notifications/acme/news', params: { hanging: true } });
      return new Promise((resolve) => {
        extra.signal.addEventListener('abort', () => {
          heard.push({ cancelled: String(extra.signal.reason) });
          resolve(text('over'));
        });
      });
    },
    /** Refused until its user has been to a page; the visit is complete when somebody calls `visit`. */
    async locked() {
      calls += 1;
      if (visited) return text({ calls });
      const page = { mode: 'url', message: 'Log in', elicitationId: 'page-1', url: 'https://example.com/login' };
      throw new types.UrlElicitationRequiredError([page]);
    },
    async visit() {
      visited = true;
      const complete = { method: 'notifications/elicitation/complete', params: { elicitationId: 'page-1' } };
      setTimeout(() => void server.notification(complete), 50); // once this call is over, so that its connection is free
      return text('done');
    },
    async heard() {
      return text(heard);
    },
    async meta(_, extra) {
      return text(extra._meta ?? 'none');
    },
    async fails({ code, message, data }) {
      throw Object.assign(new Error(message), { code, data });
    },
  };
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) =>
    tools[params.name](params.arguments ?? {}, extra),
  );
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources: [] }));
  for (const schema of [types.SubscribeRequestSchema, types.UnsubscribeRequestSchema]) {
    server.setRequestHandler(schema, ({ method, params }) => {
      heard.push({ [method]: params });
      return { _meta: MARK, acme: method };
    });
  }
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) => {
    throw new types.McpError(-32602, `Resource not found: ${params.uri}`, { uri: params.uri, acme: true });
  });
  server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => {
    throw new types.McpError(-32002, `No prompt ${params.name} today`, { acme: true });
  });
  const greet = server._oninitialize.bind(server);
  server.setRequestHandler(types.InitializeRequestSchema, async (request) => ({
    ...(await greet(request)),
    acme: { kept: [1, null] },
    _meta: { 'acme/mark': 1 },
  }));
  server.setRequestHandler(AcmeEcho, ({ params }, extra) => ({ echo: params, meta: extra._meta }));
  server.setNotificationHandler(AcmeTold, ({ params }) => void heard.push({ told: params }));
  return server;
}

if (process.argv.includes('--http')) {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    let transport = transports.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      await createChatty().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
  process.stdin.resume().once('end', () => process.exit(0));
} else {
  await createChatty().connect(new StdioServerTransport());
  process.stdin.once('end', () => process.exit(0));
}
