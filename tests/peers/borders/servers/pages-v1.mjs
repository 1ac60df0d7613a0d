// An SDK v1 server on stdio with a page for its tool (MCP Apps) and a note, under URIs that other servers also use.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const { NAME = 'pages' } = process.env;
const PAGE = 'ui://app/index.html';
const NOTE = 'note://same';
const server = new Server(
  { name: NAME, version: '1.0.0' },
  { capabilities: { tools: {}, resources: { subscribe: true } } },
);

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    {
      name: 'show',
      inputSchema: { type: 'object' },
      _meta: { ui: { resourceUri: PAGE, visibility: ['model'] }, 'ui/resourceUri': PAGE },
    },
  ],
}));
server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: [
    { uri: PAGE, name: 'page', mimeType: 'text/html;profile=mcp-app' },
    { uri: NOTE, name: 'note' },
    { uri: `note://${NAME}`, name: 'own' },
  ],
}));
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({
  contents: [{ uri, text: `${uri} of ${NAME}` }],
}));
server.setRequestHandler(SubscribeRequestSchema, () => ({}));
server.setRequestHandler(CallToolRequestSchema, async () => {
  await server.sendResourceUpdated({ uri: NOTE });
  return {
    content: [
      { type: 'resource_link', uri: NOTE, name: 'note' },
      { type: 'resource', resource: { uri: PAGE, text: 'inline' } },
      { type: 'text', text: NOTE },
    ],
  };
});
await server.connect(new StdioServerTransport());
