import { createServer } from 'mcp-parley';

const notes = ['Buy bread'];
const server = createServer({ name: 'notes', version: '1.0.0' });
server.tool('search', { description: 'Searches my notes', input: words('text') }, ({ text }) =>
  notes.filter((note) => note.includes(text)).join('\n'),
);
server.tool('delete_all', { description: 'Deletes all notes' }, () => 'They are gone.');
await server.listen({ stdio: true });

function words(name) {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}
