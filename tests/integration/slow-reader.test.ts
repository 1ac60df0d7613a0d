// A server on stdio that reads slowly, but reads: nobody's call is lost because others have sent it a lot.
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
