import { respond } from 'mcp-parley';
import { onCall } from 'mcp-parley/middleware';

export const step = onCall(async function askFirst(exchange, next) {
  const { name, arguments: given } = exchange.params as { name: string; arguments?: { amount?: number } };
  if (name !== 'pay' || (given?.amount ?? 0) <= 100) return next();
  const params = { message: `Pay ${given!.amount}?`, requestedSchema: { type: 'object', properties: {} } };
  const { action } = await exchange.ask({ method: 'elicitation/create', params });
  if (action === 'accept') return next();
  return respond({ content: [{ type: 'text', text: 'The user did not agree.' }], isError: true });
});
