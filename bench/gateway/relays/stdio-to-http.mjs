// `node stdio-to-http.mjs URL`: a line is a POST, its body is the line that goes back. Only the headers that the eras demand
// are read from the request.
import { Agent, request as call } from 'node:http';
import { eachLine } from './lines.mjs';

const url = process.argv[2];
const agent = new Agent({ keepAlive: true });
let session;

eachLine(process.stdin, (line) => {
  const { method, params } = JSON.parse(line);
  const meta = params?._meta;
  const stateless = meta?.['io.modelcontextprotocol/protocolVersion'];
  const headers = {
    'content-type': 'application/json',
    'content-length': line.length,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': stateless ?? '2025-11-25',
  };
  if (session) headers['mcp-session-id'] = session;
  if (stateless) headers['mcp-method'] = method;
  if (stateless && params.name) headers['mcp-name'] = params.name;
  const onward = call(url, { method: 'POST', headers, agent }, (answer) => {
    session ??= answer.headers['mcp-session-id'];
    const chunks = [];
    answer.on('data', (chunk) => chunks.push(chunk));
    answer.on('end', () => {
      if (chunks.length === 0) return;
      for (const chunk of chunks) process.stdout.write(chunk);
      process.stdout.write('\n');
    });
  });
  onward.end(line);
});
process.stdin.on('end', () => process.exit());
