// An SDK v1 server on stdio that normalizes URIs like servers of a file system: it decodes escapes, resolves dots and slashes,
// and drops queries. NAME; PAGE, the URI of its page.
import { posix } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const { NAME = 'vault', PAGE = 'ui://app/index.html', LISTED = '' } = process.env;
const resources = ['vault:///ok/readme', 'vault:///secret/key', 'note://same', PAGE, ...LISTED.split(' ')].filter(
  Boolean,
);
const server = new Server(
  { name: NAME, version: '1.0.0' },
  { capabilities: { tools: {}, completions: {}, resources: { subscribe: true } } },
);

function decode(text) {
  const decoded = text.replaceAll(/%[\da-f]{2}/gi, (one) => String.fromCodePoint(Number.parseInt(one.slice(1), 16)));
  return decoded === text ? text : decode(decoded);
}

/** What is read in the end. */
function resourceAt(uri) {
  if (!/^vault:/i.test(uri)) return decode(uri);
  const path = decode(uri.replace(/^vault:(\/\/)?/i, '').replace(/[?#].*$/, '')).replaceAll('\\', '/');
  return `vault://${posix.resolve('/', path)}`;
}

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'show', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, () => ({
  content: [
    { type: 'resource_link', uri: 'note://same', name: 'note' },
    { type: 'resource', resource: { uri: PAGE, text: 'inline' } },
  ],
}));
server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: resources.map((uri) => ({ uri, name: uri })),
}));
server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [
    { uriTemplate: 'vault:///{+path}', name: 'any' },
    { uriTemplate: 'vault:///secret/{key}', name: 'secrets' },
  ],
}));
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({
  contents: [{ uri, text: `${resourceAt(uri)} of ${NAME}` }],
}));
server.setRequestHandler(SubscribeRequestSchema, () => ({}));
server.setRequestHandler(CompleteRequestSchema, ({ params: { ref } }) => ({
  completion: { values: [`${resourceAt(ref.uri)} of ${NAME}`] },
}));
await server.connect(new StdioServerTransport());
