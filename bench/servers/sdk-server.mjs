// The same two tools with the official SDK. The schemas are built once, not per server object as its examples have it:
// createMcpHandler makes a server object for every request, and zod's construction should not be counted against it.
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LARGE } from '../texts.mjs';

const echoInput = z.object({ text: z.string() });
const blobInput = z.object({});
const text = (value) => ({ content: [{ type: 'text', text: value }] });

export function sdkServer() {
  const server = new McpServer({ name: 'sdk', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: echoInput }, (args) => text(args.text));
  server.registerTool('blob', { inputSchema: blobInput }, () => text(LARGE));
  return server;
}
