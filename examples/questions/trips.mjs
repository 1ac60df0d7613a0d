// A server of 2025: it speaks the handshake era alone, on stdio, and asks its user in the middle of a call.
import { createServer } from 'mcp-parley';

const server = createServer({ name: 'trips', version: '1.0.0', revisions: ['2025-06-18'] });
server.tool('book', {}, async (_, { ask }) => {
  const city = await ask.elicit({ message: 'Where to?', schema: { city: { type: 'string' } } });
  if (city.action !== 'accept') return 'Nothing was booked.';
  const days = await ask.elicit({ message: 'For how many days?', schema: { days: { type: 'integer', minimum: 1 } } });
  if (days.action !== 'accept') return 'Nothing was booked.';
  return `${String(city.content.city)}, ${String(days.content.days)} days`;
});
await server.listen({ stdio: true });
