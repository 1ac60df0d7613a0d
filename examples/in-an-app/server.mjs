// A gateway inside an HTTP server that has other things to do as well: its own pages, and who may call.
import { createServer as createHttpServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';

const noon = fileURLToPath(new URL('../wrap/server.mjs', import.meta.url));
const calls = new Map();

const gateway = createGateway({
  servers: { noon: { command: process.execPath, args: [noon] } },
  steps: [
    function count(exchange, next) {
      calls.set(exchange.method, (calls.get(exchange.method) ?? 0) + 1);
      return next();
    },
  ],
});

const endpoint = gateway.endpoint(); // answers /mcp, /mcp/<server>, /sse, /message and /ws; checks Host and Origin itself
const http = createHttpServer((request, response) => {
  if (request.url === '/calls') response.end(`${JSON.stringify(Object.fromEntries(calls))}\n`);
  else if (request.headers.authorization !== `Bearer ${process.env.TOKEN ?? 'secret'}`) response.writeHead(401).end();
  else endpoint.handle(request, response);
});

http.listen(Number(process.env.PORT ?? 8473), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${http.address().port}/mcp`);
});
process.once('SIGTERM', async () => {
  http.close();
  await gateway.close(); // its servers end, too
});
