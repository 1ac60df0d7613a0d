// The step under test: it makes every call of `echo` loud.
import { onCall } from 'mcp-parley/middleware';

export const shout = onCall(function shout(exchange, next) {
  const { name, arguments: args } = exchange.params;
  if (name === 'echo') exchange.params = { name, arguments: { text: args.text.toUpperCase() } };
  return next();
});
