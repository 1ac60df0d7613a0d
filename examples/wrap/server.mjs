// A server of the oldest revision, without any library: what many of the first servers look like.
import { createInterface } from 'node:readline';

const noon = { name: 'noon', description: 'When it is noon in a city', inputSchema: { type: 'object' } };
const METHODS = {
  initialize: () => ({
    protocolVersion: '2024-11-05',
    capabilities: { tools: {} },
    serverInfo: { name: 'noon', version: '0.1.0' },
  }),
  'tools/list': () => ({ tools: [noon] }),
  'tools/call': ({ arguments: { city } }) => ({ content: [{ type: 'text', text: `In ${city} it is noon at 12:00.` }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const known = METHODS[method];
  const outcome = known ? { result: known(params) } : { error: { code: -32601, message: 'Method not found' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
});
