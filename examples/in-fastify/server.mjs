// A gateway inside a Fastify app: a hook answers MCP's paths before Fastify reads a body, everything else goes on to the routes.
import fastify from 'fastify';
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';

const noon = fileURLToPath(new URL('../wrap/server.mjs', import.meta.url));
const gateway = createGateway({ servers: { noon: { command: process.execPath, args: [noon] } } });
const endpoint = gateway.endpoint({ identify: ({ headers }) => headers.authorization });

const app = fastify();
app.addHook('onRequest', (request, reply, done) => {
  const isMcp = /^\/(mcp|sse|message)\b/.test(request.url);
  if (isMcp && request.headers.authorization !== `Bearer ${process.env.TOKEN ?? 'secret'}`) {
    return void reply.code(401).send('Who are you?\n');
  }
  endpoint.handle(request.raw, reply.raw, done);
});
app.get('/', () => 'An app with a gateway at /mcp\n');

console.log(`${await app.listen({ port: Number(process.env.PORT ?? 8476), host: '127.0.0.1' })}/mcp`);
process.once('SIGTERM', async () => {
  await gateway.close();
  await app.close();
});
