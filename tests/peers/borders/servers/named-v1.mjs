// An SDK v1 server on stdio: NAME, TOOLS (comma-separated), and GATE, a file it waits for before it answers anything.
import { existsSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const { NAME = 'named', TOOLS = '', GATE } = process.env;
const names = TOOLS.split(',').filter(Boolean);
for (;;) {
  if (!GATE || existsSync(GATE)) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}

const server = new Server({ name: NAME, version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: names.map((name) => ({ name, description: `${name} of ${NAME}`, inputSchema: { type: 'object' } })),
}));
/** It takes names generously, as some servers do. */
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const name = names.find((one) => one.toLowerCase() === params.name.normalize('NFKC').trim().toLowerCase());
  if (!name) throw new Error(`Unknown tool: ${params.name}`);
  return {
    content: [
      { type: 'text', text: `${name} of ${NAME}` },
      { type: 'text', text: JSON.stringify(params.arguments ?? {}) },
    ],
  };
});
await server.connect(new StdioServerTransport());
