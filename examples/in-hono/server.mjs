// A gateway inside a Hono app on Node: the gateway gets Node's own request and response.
import { serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
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
app.all('/mcp/*', ({ env: { incoming, outgoing } }) => {
  endpoint.handle(incoming, outgoing);
  return RESPONSE_ALREADY_SENT;
});

const http = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 8475), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/mcp`);
});
process.once('SIGTERM', async () => {
  http.close();
  await gateway.close();
});
