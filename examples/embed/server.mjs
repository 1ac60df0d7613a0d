// An MCP server mounted into an HTTP server that has other things to do as well.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'mcp-parley';

const mcp = createServer({ name: 'clock', version: '1.0.0' });
mcp.tool('now', { description: 'The time of this server' }, () => ({ time: new Date().toISOString() }));

const endpoint = mcp.endpoint(); // answers /mcp, /sse, /message and /ws; checks Host and Origin itself
const http = createHttpServer((request, response) => {
  if (request.url === '/health') response.end('ok\n');
  else endpoint.handle(request, response);
});
http.on('upgrade', (request, socket, head) => endpoint.upgrade(request, socket, head)); // WebSocket

http.listen(Number(process.env.PORT ?? 8472), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${http.address().port}/mcp`);
});
