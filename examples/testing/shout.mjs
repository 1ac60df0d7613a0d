// The step under test: whoever calls `echo` is heard.
import { onCall } from 'mcp-parley/middleware';

export const shout = onCall(function shout(exchange, next) {
  const { name, arguments: args } = exchange.params;
  if (name === 'echo') exchange.params = { name, arguments: { text: args.text.toUpperCase() } };
  return next();
});
