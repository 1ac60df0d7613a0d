// Large answers of a server on event streams, more at once than the process may hold: each arrives whole, or its call is told why it does not.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createGateway } from 'mcp-parley';
import { callModern } from '../helpers/mcp-http.ts';
import { within } from '../helpers/until.ts';

const MiB = 1024 * 1024;
/** After so many requests the gateway speaks to a server through undici. */
const WARM_UP = 230;

const ANSWERS: Record<string, (params: { arguments: { size: number } }) => object> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'large', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'get', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { size } }) => ({ content: [{ type: 'text', text: 'y'.repeat(size) }] }),
};

function answer(response: ServerResponse, message: { id?: number; method: string; params: never }): void {
  const { id, method, params } = message;
  if (id === undefined) return void response.writeHead(202).end();
  const result = ANSWERS[method]?.(params);
  const said = JSON.stringify({
    jsonrpc: '2.0',
    id,
    ...(result ? { result } : { error: { code: -32601, message: '' } }),
  });
  response.writeHead(200, { 'content-type': method === 'tools/call' ? 'text/event-stream' : 'application/json' });
  response.end(method === 'tools/call' ? `data: ${said}\n\n` : said);
}

test.each([0, WARM_UP])('are whole, or refused because of the budget, after %s requests', async (requests) => {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    answer(response, JSON.parse(await text(request)) as Parameters<typeof answer>[1]);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const large = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const gateway = createGateway({ servers: { large }, limits: { maxHeldBytes: 6 * MiB } });
  try {
    const { url } = await gateway.listen({ port: 0 });
    const get = async (size: number): Promise<string> => (await callModern(url, 'get', { size })).text;
    for (let n = 0; n < requests; n++) await get(1);
    const answers = await within('all answers', Promise.all(Array.from({ length: 12 }, () => get(3 * MiB))), 50_000);
    const cut = answers.filter((one) => one.length < 3 * MiB);
    for (const one of cut) expect(one).toContain('limits.maxHeldBytes');
    expect(cut.length).toBeLessThan(answers.length);
    expect(await get(1)).toContain('"text":"y"');
  } finally {
    await gateway.close();
    server.close().closeAllConnections();
  }
});
