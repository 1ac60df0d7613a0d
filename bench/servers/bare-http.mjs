import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { answer } from './bare-answers.mjs';
import { ready } from './usage.mjs';

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks));
    const body = answer(message);
    if (body === undefined) return response.writeHead(202).end();
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    if (message.method === 'initialize') headers['mcp-session-id'] = randomUUID();
    response.writeHead(200, headers).end(body);
  });
});

server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${server.address().port}/mcp`));
