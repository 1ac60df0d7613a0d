// Servers choose names and keys that imitate something else: Parley's own tool, or a property that every object has.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { approve, filter } from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';

const PROGRAM = join(ROOT, 'tests', 'peers', 'borders', 'servers', 'posing-v1.mjs');
const posing = (KEY = '') => ({ command: process.execPath, args: [PROGRAM], env: { KEY } });

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function serve(options: Partial<GatewayOptions>): Promise<string> {
  const gateway = createGateway({
    servers: { desk: posing() },
    log: createLog({ level: 'silent' }),
    ask: { channels: ['relay'] },
    ...options,
  });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

/** With `answer`, it can be asked. */
async function v1(url: string, answer?: () => object): Promise<Client> {
  const client = new Client({ name: 'v1', version: '1' }, { capabilities: answer ? { elicitation: {} } : {} });
  if (answer) client.setRequestHandler(ElicitRequestSchema, () => answer() as { action: 'accept' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  return client;
}

const said = (work: Promise<unknown>) => work.then(JSON.stringify, (thrown: Error) => `refused: ${thrown.message}`);

/** Was asked and has listed the tool by which it answers. */
async function asked(url: string): Promise<{ client: Client; handle: string }> {
  const client = await v1(url);
  const { _meta } = await client.callTool({ name: 'greet' });
  const { tools } = await client.listTools();
  expect(tools.filter(({ name }) => name === 'parley_answer')).toHaveLength(1);
  return { client, handle: String(_meta?.['mcp-parley/handle']) };
}

const answering = (handle: string) => ({ name: 'parley_answer', arguments: { handle, answer: { who: 'Ann' } } });

describe("a server's tool that is called parley_answer", () => {
  test('is not shown by a filter that shows the tool of the gateway', async () => {
    const url = await serve({ steps: [filter({ tools: { deny: ['desk__*answer'] } })] });
    const { client, handle } = await asked(url);
    const other = await v1(url, () => ({ action: 'accept', content: {} }));
    expect(await said(other.callTool({ name: 'parley_answer' }))).toMatch(/^refused: .*Unknown tool/);
    expect((await other.listTools()).tools.map(({ name }) => name)).toEqual(['greet']);
    expect(await said(client.callTool(answering(handle)))).toContain('hello Ann');
    expect(await said(other.callTool({ name: 'parley_answer' }))).toMatch(/^refused/);
  });

  test('is called by its full name alone, and asked about like any other that may destroy', async () => {
    const url = await serve({
      steps: [approve({ when: { allow: ['greet'], ask: 'destructive' } })],
      ask: { trust: 'all' },
    });
    const { client } = await asked(url);
    await client.listTools();
    let questions = 0;
    const other = await v1(url, () => {
      questions++;
      return { action: 'decline' };
    });
    expect(await said(other.callTool({ name: 'parley_answer' }))).toMatch(/^refused: .*parley_answer/);
    expect(questions).toBe(0);
    expect(await said(other.callTool({ name: 'desk__parley_answer' }))).not.toContain('the tool of the server ran');
    expect(questions).toBe(1);
  });

  test.each([
    ['one server', { desk: posing() }, 'always'],
    ['several, with bare names', { desk: posing(), spare: posing() }, 'on-collision'],
    ['several', { desk: posing(), spare: posing() }, 'always'],
  ] as const)('never gets a call of that name, with or without a handle: %s', async (_, servers, names) => {
    const url = await serve({ servers, names });
    const asks = [await v1(url), await v1(url, () => ({ action: 'accept', content: {} }))];
    for (const client of asks) {
      await client.listTools();
      const handle = 'ask_AAAAAAAAAAAAAAAAAAAAAA';
      for (const args of [undefined, {}, { handle, answer: { who: 'Ann' } }, { answer: { who: 'Ann' } }]) {
        const call = client.callTool({ name: 'parley_answer', ...(args && { arguments: args }) });
        expect(await said(call)).not.toContain('the tool of the server ran');
      }
    }
  });

  test('does not get the answers of users', async () => {
    for (const names of ['always', 'on-collision'] as const) {
      const url = await serve({ servers: { desk: posing(), spare: posing() }, names });
      const client = await v1(url);
      const { _meta } = await client.callTool({ name: 'desk__greet' });
      const handle = String(_meta?.['mcp-parley/handle']);
      expect(await said(client.callTool(answering(handle)))).toContain('hello Ann');
    }
  });
});

describe.each(['__proto__', 'constructor', 'toString'])('a question that its server calls %s', (key) => {
  test('is put to a client of 2026-07-28, and answered', async () => {
    const url = await serve({ servers: { desk: posing(key) } });
    const client = new ClientV2(
      { name: 'v2', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { who: 'Ann' } }));
    await client.connect(new TransportV2(new URL(url)));
    open.push(() => client.close());
    expect(await said(client.callTool({ name: 'greet' }))).toContain('hello Ann');
  });

  test('is answered through a model', async () => {
    const url = await serve({ servers: { desk: posing(key) } });
    const { client, handle } = await asked(url);
    expect(await said(client.callTool(answering(handle)))).toContain('hello Ann');
  });
});
