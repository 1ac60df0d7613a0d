// A gateway inside an Express app: who may call is the app's business, what they call the gateway's.
import express from 'express';
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';
import { log } from 'mcp-parley/middleware';

const noon = fileURLToPath(new URL('../wrap/server.mjs', import.meta.url));
const gateway = createGateway({ servers: { noon: { command: process.execPath, args: [noon] } }, steps: [log()] });
const endpoint = gateway.endpoint({ identify: ({ headers }) => headers.authorization });

const app = express();
app.use(express.json({ limit: '5mb' })); // may stand before the gateway or behind it
app.get('/', (_request, response) => void response.send('An app with a gateway at /mcp\n'));
app.use(['/mcp', '/sse', '/message'], (request, response, next) => {
  if (request.headers.authorization === `Bearer ${process.env.TOKEN ?? 'secret'}`) next();
  else response.status(401).send('Who are you?\n');
});
app.use(endpoint.handle); // /mcp, /mcp/<server>, /sse, /message; everything else goes on to what follows
app.use((_request, response) => void response.status(404).send('Not here\n'));

const http = app.listen(Number(process.env.PORT ?? 8474), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${http.address().port}/mcp`);
});
process.once('SIGTERM', async () => {
  http.close();
  await gateway.close();
});
