// A gateway inside a Hono app. The same lines work wherever Hono runs; only `serve` is Node's.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';

const noon = fileURLToPath(new URL('../wrap/server.mjs', import.meta.url));
const gateway = createGateway({ servers: { noon: { command: process.execPath, args: [noon] } } });
const endpoint = gateway.endpoint({ identify: ({ headers }) => headers.authorization });

const app = new Hono();
app.get('/', (context) => context.text('An app with a gateway at /mcp\n'));
app.use('/mcp/*', bearerAuth({ token: process.env.TOKEN ?? 'secret' })); // `/mcp/*` is `/mcp`, too
app.all('/mcp/*', (context) => endpoint.fetch(context.req.raw));

const http = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 8475), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/mcp`);
});
process.once('SIGTERM', async () => {
  http.close();
  await gateway.close();
});
