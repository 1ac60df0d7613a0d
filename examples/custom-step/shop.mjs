// A server that knows nothing of the rule.
import { createServer } from 'mcp-parley';

const server = createServer({ name: 'shop', version: '1.0.0' });
const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
server.tool('pay', { description: 'Pays', input }, ({ amount }) => `Paid ${String(amount)}`);
await server.listen({ stdio: true });
