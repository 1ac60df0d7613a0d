// A server made with the official SDK v1, on stdio, with a resource to subscribe to.
//   update       tells subscribers of memo://one, and answers whether anybody is subscribed
//   say {level}  logs one line before it answers
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const server = new McpServer(
  { name: 'memo', version: '1.0.0' },
  { capabilities: { logging: {}, resources: { subscribe: true } } },
);
const subscribed = new Set();
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

server.registerResource('one', 'memo://one', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
server.registerTool('update', {}, async () => {
  for (const uri of subscribed) await server.server.sendResourceUpdated({ uri });
  return text(subscribed.size > 0);
});
server.registerTool('say', { inputSchema: { level: z.string() } }, async ({ level }, extra) => {
  await extra.sendNotification({ method: 'notifications/message', params: { level, data: `said at ${level}` } });
  return text('said');
});

await server.connect(new StdioServerTransport());
