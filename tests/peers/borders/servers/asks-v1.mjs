// A server of SDK v1 on stdio that asks its client for everything. `--asks-at-start`: for roots, as soon as the client is
// there. `--list-waits FILE`: tools/list is answered when there is such a file. `--logs`: it declares log messages.
import { existsSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const flag = (name) => process.argv.includes(name);
const mayList = () => !flag('--list-waits') || existsSync(process.argv[process.argv.indexOf('--list-waits') + 1]);
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

const mcp = new McpServer(
  { name: 'asks', version: '1.0.0' },
  {
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true },
      ...(flag('--logs') && { logging: {} }),
    },
  },
);
const { server } = mcp;
const tools = [
  { name: 'pid' },
  { name: 'elicit' },
  { name: 'roots' },
  { name: 'roots_at_start' },
  { name: 'grow' },
  { name: 'flood' },
];
let atStart = 'none';

for (const { name } of tools) mcp.registerTool(name, {}, () => call(name));
mcp.registerResource('note', 'note://one', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
server.setRequestHandler(ListToolsRequestSchema, async () => {
  while (!mayList()) await new Promise((resolve) => setTimeout(resolve, 20));
  return { tools: tools.map(({ name }) => ({ name, inputSchema: { type: 'object' } })) };
});
server.oninitialized = () => {
  if (flag('--asks-at-start')) void rootsOf().then((roots) => (atStart = roots));
};

async function rootsOf() {
  return (await server.listRoots()).roots.map(({ uri }) => uri).join(' ') || 'none';
}

async function call(name) {
  if (name === 'pid') return text(process.pid);
  if (name === 'roots') return text(await rootsOf());
  if (name === 'roots_at_start') return text(atStart);
  if (name === 'grow') {
    tools.push({ name: `grown-${tools.length}` });
    await server.sendToolListChanged();
    return text('grown');
  }
  const requestedSchema = { type: 'object', properties: { city: { type: 'string' } } };
  if (name === 'flood') {
    const asked = Array.from({ length: 50 }, () => server.elicitInput({ message: 'Which city?', requestedSchema }));
    const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
    return text(`${refused.length} refused: ${refused[0]?.reason.message}`);
  }
  return text((await server.elicitInput({ message: 'Which city?', requestedSchema })).content.city);
}

await mcp.connect(new StdioServerTransport());
