// A server made with the official SDK v1, on stdio. Its tools say nothing until they answer.
//   silent {ms}  answers after a while          hold {key}  answers once `go {key}` was called
//   runs         how often `silent` and `hold` have run
// With --start-ms N it needs that long before it reads its first message.
import { setTimeout } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const startMs = Number(process.argv[process.argv.indexOf('--start-ms') + 1] ?? 0);
if (process.argv.includes('--start-ms')) await setTimeout(startMs);

const server = new McpServer({ name: 'silent', version: '1.0.0' }, { capabilities: { logging: {} } });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const waiting = new Map();
let runs = 0;

server.registerTool('silent', { inputSchema: { ms: z.number() } }, async ({ ms }) => {
  runs++;
  await setTimeout(ms);
  return text('done');
});
server.registerTool('hold', { inputSchema: { key: z.string() } }, async ({ key }) => {
  runs++;
  await new Promise((resolve) => waiting.set(key, resolve));
  return text('released');
});
server.registerTool('go', { inputSchema: { key: z.string() } }, ({ key }) => {
  waiting.get(key)?.();
  return text(waiting.delete(key));
});
server.registerTool('runs', {}, () => text(runs));
server.registerTool('pid', {}, () => text(process.pid));

await server.connect(new StdioServerTransport());
