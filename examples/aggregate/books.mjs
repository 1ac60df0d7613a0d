import { createServer } from 'mcp-parley';

const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const server = createServer({ name: 'books', version: '1.0.0' });
server.tool(
  'search',
  { description: 'Searches my books', input },
  ({ text }) => `No book has "${String(text)}" in it.`,
);
await server.listen({ stdio: true });
