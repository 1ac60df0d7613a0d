// What a server must compute whatever it is built with: read the method, call the tool, build the answer. Nothing is
// checked. It is the floor that the others are compared with, not a server to use.
import { LARGE } from '../texts.mjs';

const SERVER_INFO = { name: 'bare', version: '1.0.0' };
const META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };
const OBJECT = { type: 'object', properties: {} };

const TOOLS = [
  { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  { name: 'blob', inputSchema: OBJECT },
];

const tools = { echo: ({ text }) => text, blob: () => LARGE };

const methods = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: SERVER_INFO }),
  'server/discover': () => ({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  }),
  'tools/list': (params) =>
    isStateless(params) ? { tools: TOOLS, ttlMs: 0, cacheScope: 'private' } : { tools: TOOLS },
  'tools/call': ({ name, arguments: args }) => ({ content: [{ type: 'text', text: tools[name](args) }] }),
};

/** The answer as text; undefined for a notification. */
export function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const result = methods[method](params);
  if (isStateless(params)) {
    result.resultType = 'complete';
    result._meta = META;
  }
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

function isStateless(params) {
  return params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
}
