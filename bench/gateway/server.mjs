// `node server.mjs --stdio|--port N [--era handshake|stateless]`: what stands behind every gateway. It answers as cheaply as
// can be, large texts from bytes made once, so that what is measured is the gateway. Without --era it speaks both eras.
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { LARGE, hugeText } from '../texts.mjs';

const SLOW_MS = 100;
const SERVER_INFO = { name: 'bench', version: '1.0.0' };
const META = JSON.stringify({ 'io.modelcontextprotocol/serverInfo': SERVER_INFO });
const CAPABILITIES = { tools: {} };
const ECHO_INPUT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const TOOLS = [
  { name: 'echo', inputSchema: ECHO_INPUT },
  ...['blob', 'huge', 'slow'].map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })),
];
const NO_SUCH_METHOD = { code: -32601, message: 'Method not found' };

const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER_INFO }),
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES, serverInfo: SERVER_INFO }),
  'tools/list': () => ({ tools: TOOLS }),
  ping: () => ({}),
};
const FOREIGN = { handshake: 'server/discover', stateless: 'initialize' };

const kept = {};
const texts = { blob: () => LARGE, huge: hugeText };

/** Calls `write` with the parts of the answer, if there is one. */
function answer({ id, method, params }, era, write) {
  if (id === undefined || method === undefined) return write([]);
  const isStateless = params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
  const end = isStateless ? `,"resultType":"complete","_meta":${META}}}` : '}}';
  const begin = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if (method !== 'tools/call') {
    const make = method === FOREIGN[era] ? undefined : methods[method];
    if (!make) return write([`${begin}"error":${JSON.stringify(NO_SUCH_METHOD)}}`]);
    const freshness = isStateless ? ',"ttlMs":0,"cacheScope":"private"' : '';
    return write([`${begin}"result":${openObject(make(params))}${freshness}${end}`]);
  }
  const content = `${begin}"result":{"content":[{"type":"text","text":`;
  const { name } = params;
  if (texts[name]) return write([content, (kept[name] ??= Buffer.from(JSON.stringify(texts[name]()))), `}]${end}`]);
  if (name === 'slow') return setTimeout(() => write([`${content}"slept"}]${end}`]), SLOW_MS);
  return write([`${content}${JSON.stringify(params.arguments.text)}}]${end}`]);
}

/** Without its closing brace; an empty one gets a field, so that more can follow. */
function openObject(value) {
  const text = JSON.stringify(value);
  return text === '{}' ? '{"_meta":{}' : text.slice(0, -1);
}

function serveStdio(era) {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      answer(JSON.parse(line), era, (parts) => {
        if (parts.length === 1) return process.stdout.write(`${parts[0]}\n`);
        for (const part of parts) process.stdout.write(part);
        if (parts.length > 1) process.stdout.write('\n');
      });
    }
  });
}

/** The path names the era: /mcp for both, /mcp/handshake, /mcp/stateless. */
function serveHttp(port) {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(request.method === 'GET' ? 405 : 200).end();
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const message = JSON.parse(Buffer.concat(chunks));
      answer(message, request.url.slice('/mcp/'.length), (parts) => send(response, message, parts));
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen(port, '127.0.0.1', () => process.send?.({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
}

function send(response, { method }, parts) {
  if (parts.length === 0) return response.writeHead(202).end();
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const headers = { 'content-type': 'application/json', 'content-length': length };
  if (method === 'initialize') headers['mcp-session-id'] = 'one-for-all';
  response.writeHead(200, headers);
  for (const part of parts.slice(0, -1)) response.write(part);
  response.end(parts.at(-1));
}

const { values } = parseArgs({
  options: { stdio: { type: 'boolean' }, port: { type: 'string' }, era: { type: 'string' } },
});
if (values.stdio) serveStdio(values.era);
else serveHttp(Number(values.port));
process.on('disconnect', () => process.exit());
