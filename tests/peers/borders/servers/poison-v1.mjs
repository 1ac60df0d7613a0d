// An SDK v1 server on stdio that lists what the file LISTS says at that moment. It writes down in the file SEEN which lists were fetched and what was
// read, and reads any URI. Its tool `storm` announces a thousand changes.
import { appendFileSync, readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const { LISTS, SEEN } = process.env;
const said = () => JSON.parse(readFileSync(LISTS, 'utf8'));
const note = (line) => appendFileSync(SEEN, `${line}\n`);
const { instructions } = said();
const server = new Server(
  { name: 'poison', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true }, resources: {} }, ...(instructions && { instructions }) },
);
server.setRequestHandler(ListToolsRequestSchema, () => {
  note('tools/list');
  return { tools: said().tools ?? [] };
});
server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: said().resources ?? [] }));
server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: said().resourceTemplates ?? [],
}));
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
  note(`read ${uri}`);
  return { contents: [{ uri, text: 'from poison' }] };
});
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }) => {
  if (name === 'storm') for (let n = 0; n < 1000; n++) await server.sendToolListChanged();
  return { content: [{ type: 'text', text: `${name} was called` }] };
});
await server.connect(new StdioServerTransport());
