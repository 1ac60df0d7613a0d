import { createServer } from 'mcp-parley';
import { z } from 'zod';

const server = createServer({ name: 'trips', version: '1.0.0' });
const input = z.object({ city: z.string(), nights: z.int().min(1) });

server.tool('quote', { description: 'The price of a trip', input }, async ({ city, nights }, call) => {
  const schema = { breakfast: { type: 'boolean', title: 'With breakfast' } };
  const answer = await call.ask.elicit({ message: `${nights} nights in ${city}`, schema });
  if (answer.action !== 'accept') return 'No quote: the user did not want one.';
  return { city, price: nights * (answer.content.breakfast ? 95 : 80) };
});

const listening = await server.listen(process.argv.includes('--stdio') ? { stdio: true } : { port: 8471 });
if ('url' in listening) console.log(`Listening at ${listening.url}`);
