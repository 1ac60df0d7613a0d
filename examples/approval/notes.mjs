// A server that asks nobody anything. It says of its tools what they do.
import { createServer } from 'mcp-parley';

const notes = new Map([
  ['shopping', 'Buy bread'],
  ['ideas', 'Learn to juggle'],
]);
const server = createServer({ name: 'notes', version: '1.0.0' });
const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

server.tool('list_notes', { annotations: { readOnlyHint: true } }, () => [...notes.keys()].join(', '));
server.tool('delete_note', { annotations: { destructiveHint: true }, input }, ({ name }) =>
  notes.delete(String(name)) ? `Deleted ${String(name)}` : `There is no ${String(name)}`,
);
await server.listen({ stdio: true });
