// A server behind the web-standard handler, on whatever runtime this is. Prints its URL. `wait` is silent longer than Bun lets a
// connection be by default.
import { createServer } from '../../../../dist/_entries/index.js';

const server = createServer({ name: 'inner', version: '1' });
server.tool('add', { a: 'number', b: 'number' }, ({ a, b }) => String(a + b));
server.tool('steps', {}, (_args, call) => {
  for (let step = 1; step <= 3; step++) call.progress(step, 3);
  return 'done';
});
server.tool('ask', {}, async (_args, call) => {
  const schema = { type: 'object', properties: { answer: { type: 'string' } } };
  const { content } = await call.ask.elicit({ message: 'Your name?', schema });
  return `Hello ${String(content?.answer)}`;
});
server.tool('wait', { ms: 'number' }, async ({ ms }) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return 'waited';
});

const { fetch } = server.endpoint();
if (globalThis.Bun) {
  const http = Bun.serve({ fetch, port: 0, hostname: '127.0.0.1' });
  console.log(`http://127.0.0.1:${http.port}/mcp`);
} else {
  Deno.serve({
    port: 0,
    hostname: '127.0.0.1',
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`),
    handler: fetch,
  });
}
