// A server that reads slowly, but reads: nobody's call is lost because others have sent it a lot.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { afterEach, expect, test } from 'vitest';
import { createGateway } from 'mcp-parley';
import type { Gateway } from 'mcp-parley';
import { callModern } from '../helpers/mcp-http.ts';

const MiB = 1024 * 1024;
/** Takes a chunk every 15 ms, about 4 MB a second, and answers each call with how long its text is. */
const SERVER = `
  let rest = '';
  const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  process.stdin.on('data', (chunk) => {
    process.stdin.pause();
    setTimeout(() => process.stdin.resume(), chunk.length > 10000 ? 15 : 0);
    const lines = (rest + chunk.latin1Slice()).split('\\n');
    rest = lines.pop();
    for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
      if (method === 'initialize')
        say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
      else if (method === 'tools/list') say(id, { tools: [{ name: 'measure', inputSchema: { type: 'object' } }] });
      else if (method === 'tools/call')
        say(id, { content: [{ type: 'text', text: String(params.arguments.text.length) }] });
      else if (id !== undefined)
        process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
    }
  });`;

let gateway: Gateway | undefined;
afterEach(async () => gateway?.close());

test('a server that reads slowly is not given up while large calls wait for it', async () => {
  const slow = { command: process.execPath, args: ['-e', SERVER] };
  gateway = createGateway({ servers: { slow }, limits: { maxBufferedBytes: 16 * MiB } });
  const { url } = await gateway.listen({ port: 0 });
  const measure = async (length: number): Promise<string> =>
    JSON.stringify((await callModern(url, 'measure', { text: 'x'.repeat(length) })).json);
  expect(await measure(1)).toContain('"text":"1"');
  const large = 3_000_000;
  const answers: string[] = [];
  const isRefused = (answer: string): boolean => answer.includes('is too busy');
  // Each tries until there is room: again and again it is seen to be full.
  const untilAnswered = async (): Promise<void> => {
    do answers.push(await measure(large));
    while (isRefused(answers.at(-1)!));
  };
  await Promise.all(Array.from({ length: 9 }, untilAnswered));
  expect(answers.filter(isRefused).length).toBeGreaterThan(0);
  for (const answer of answers) if (!isRefused(answer)) expect(answer).toContain(`"text":"${large}"`);
  expect(await measure(2)).toContain('"text":"2"');
});

test('nor is one behind a WebSocket that takes longer for a single message than it may take nothing', async () => {
  await using server = await slowWebSocket();
  const limits = { maxBufferedBytes: MiB, maxRequestBytes: 32 * MiB, maxResultBytes: 32 * MiB };
  gateway = createGateway({ servers: { slow: { url: server.url } }, limits });
  const { url } = await gateway.listen({ port: 0 });
  const measure = async (length: number): Promise<string> =>
    JSON.stringify((await callModern(url, 'measure', { text: 'x'.repeat(length) })).json);
  expect(await measure(1)).toContain('"text":"1"');
  const large = 24 * MiB;
  const state = { isAnswered: false };
  const answer = measure(large).finally(() => (state.isAnswered = true));
  // Seen to be full while the message is read.
  while (!state.isAnswered) await measure(100_000);
  expect(await answer).toContain(`"text":"${large}"`);
});

/** Takes a chunk every 15 ms, about 4 MB a second. */
async function slowWebSocket() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mcp' });
  await once(server, 'listening');
  server.on('connection', (socket: WebSocket, { socket: raw }: IncomingMessage) => {
    raw.on('data', (chunk: Buffer) => {
      raw.pause();
      setTimeout(() => raw.resume(), chunk.length > 10_000 ? 15 : 0);
    });
    const say = (message: object): void => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    socket.on('message', (text: Buffer) => {
      const { id, method, params } = JSON.parse(text.toString());
      if (method === 'initialize')
        say({
          id,
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 's', version: '1' },
          },
        });
      else if (method === 'tools/list')
        say({ id, result: { tools: [{ name: 'measure', inputSchema: { type: 'object' } }] } });
      else if (method === 'tools/call')
        say({ id, result: { content: [{ type: 'text', text: String(params.arguments.text.length) }] } });
      else if (id !== undefined) say({ id, error: { code: -32601, message: 'no' } });
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
