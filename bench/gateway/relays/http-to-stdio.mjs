// `node http-to-stdio.mjs PORT COMMAND…`: requests parsed once for their id, which is made unique; the answer's id replaced
// in its bytes, the rest not looked at. One child for all, no sessions kept.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { eachLine, idAt } from './lines.mjs';

const [port, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const open = new Map();
let lastId = 0;

eachLine(child.stdout, (line) => {
  const { id, from, to } = idAt(line);
  const waiting = open.get(id);
  if (!waiting) return;
  open.delete(id);
  const before = line.latin1Slice(0, from) + waiting.id;
  const headers = { 'content-type': 'application/json', 'content-length': before.length + line.length - to };
  if (waiting.method === 'initialize') headers['mcp-session-id'] = 'one-for-all';
  waiting.response.writeHead(200, headers);
  waiting.response.write(before, 'latin1');
  waiting.response.end(line.subarray(to));
});

const server = createServer((request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    if (message.id === undefined) response.writeHead(202).end();
    else {
      lastId += 1;
      open.set(String(lastId), { id: JSON.stringify(message.id), method: message.method, response });
      message.id = lastId;
    }
    child.stdin.write(JSON.stringify(message) + '\n');
  });
});
server.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
process.on('exit', () => child.kill());
