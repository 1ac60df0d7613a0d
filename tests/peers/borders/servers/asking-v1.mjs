// An SDK v1 server on stdio with one tool that asks its user by a form.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const server = new Server({ name: 'asking', version: '1.0.0' }, { capabilities: { tools: {} } });
const requestedSchema = { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] };

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'greet', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, async () => {
  const say = (text) => ({ content: [{ type: 'text', text }] });
  if (!server.getClientCapabilities()?.elicitation) return say('nobody to ask');
  const { content } = await server.elicitInput({ message: 'Who?', requestedSchema });
  return say(`hello ${String(content?.who)}`);
});
await server.connect(new StdioServerTransport());
