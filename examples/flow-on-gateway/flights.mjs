// A server that knows nothing of flows: its tools take arguments and answer.
import { createServer } from 'mcp-parley';

const server = createServer({ name: 'flights', version: '1.0.0' });
const text = { type: 'string' };
const input = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });
const reserved = new Map();

server.tool('quote', { input: input({ city: text }) }, ({ city }) => {
  if (city === 'Atlantis') throw new Error('No flights to Atlantis');
  return { price: city.length * 10 };
});
server.tool('reserve', { input: input({ city: text, key: text }) }, ({ city, key }) => {
  if (!reserved.has(key)) reserved.set(key, `${city.slice(0, 3).toUpperCase()}-${reserved.size + 1}`);
  return { reference: reserved.get(key) };
});
await server.listen({ stdio: true });
