// The tool `parley_answer`: it is listed where a server has asked, passes the steps like any tool, and can be switched off.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { approve, filter, fixed, log as logStep, prefix } from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';
import { Home } from '../../helpers/parley.ts';
import { until } from '../../helpers/until.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';

const ASKING = {
  command: process.execPath,
  args: [join(ROOT, 'tests', 'peers', 'borders', 'servers', 'asking-v1.mjs')],
};
const silent = createLog({ level: 'silent' });

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function serve(options: Partial<GatewayOptions> = {}): Promise<string> {
  const gateway = createGateway({ servers: { desk: ASKING }, log: silent, ask: { channels: ['relay'] }, ...options });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

async function v1(url: string): Promise<Client> {
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  return client;
}

interface Lister {
  listTools(): Promise<{ tools: { name: string }[] }>;
}
const names = async (client: Lister) => (await client.listTools()).tools.map(({ name }) => name);

async function held(client: Client, tool = 'greet'): Promise<string> {
  const { _meta } = await client.callTool({ name: tool });
  return String(_meta?.['mcp-parley/handle']);
}

async function answered(client: Client, handle: string): Promise<string> {
  return JSON.stringify(
    await client.callTool({ name: 'parley_answer', arguments: { handle, answer: { who: 'Ann' } } }),
  );
}

test('a client with a session sees it from its first question on, and is told', async () => {
  const url = await serve();
  const [client, other] = [await v1(url), await v1(url)];
  expect(await names(client)).toEqual(['greet']);
  let told = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
  const handle = await held(client);
  await until('the news of one more tool', () => told > 0);
  expect(await names(client)).toEqual(['greet', 'parley_answer']);
  expect(await names(other)).toEqual(['greet']);
  expect(await answered(client, handle)).toContain('hello Ann');
});

test('stateless clients see it once a server has asked', async () => {
  const url = await serve();
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new TransportV2(new URL(url)));
  open.push(() => client.close());
  expect(await names(client)).toEqual(['greet']);
  await held(await v1(url));
  expect(await names(client)).toEqual(['greet', 'parley_answer']);
});

test('wrap leaves it out with --no-ask', async () => {
  using home = new Home();
  for (const options of [[], ['--no-ask']]) {
    const {
      command,
      args = [],
      env = {},
      cwd,
    } = home.address(['wrap', ...options, '--', ASKING.command, ...ASKING.args]);
    const client = new Client({ name: 'v1', version: '1' });
    await client.connect(new StdioClientTransport({ command, args: [...args], env, ...(cwd && { cwd }) }));
    open.push(() => client.close());
    expect(await names(client)).toEqual(['greet']);
    const { content } = await client.callTool({ name: 'greet' });
    expect(JSON.stringify(content)).toContain(options.length > 0 ? 'nobody to ask' : "waits for the user's answer");
    expect(await names(client)).toEqual(options.length > 0 ? ['greet'] : ['greet', 'parley_answer']);
  }
});

test('it passes the steps: it is logged, and a deny rule hides and refuses it', async () => {
  const lines: { name?: string }[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(JSON.parse(line) as { name?: string }) });
  const client = await v1(await serve({ steps: [logStep({ log })] }));
  expect(await answered(client, await held(client))).toContain('hello Ann');
  expect(lines.map(({ name }) => name)).toContain('parley_answer');

  const denied = await v1(await serve({ steps: [filter({ deny: ['parley_*'] })] }));
  const handle = await held(denied);
  expect(await names(denied)).toEqual(['greet']);
  await expect(answered(denied, handle)).rejects.toThrow('Unknown tool');
});

test('rules for tools of servers leave it alone', async () => {
  const steps = [
    prefix('x_'),
    filter({ tools: { allow: ['greet'] } }),
    fixed({ '*': { handle: 'mine' } }),
    approve({ when: { ask: ['parley_answer', 'other'] } }),
  ];
  const servers = { desk: { server: ASKING, tools: { allow: ['greet'], approve: ['nothing'] } } };
  const client = await v1(await serve({ steps, servers }));
  const handle = await held(client, 'x_greet');
  expect(await names(client)).toEqual(['x_greet', 'parley_answer']);
  expect(await answered(client, handle)).toContain('hello Ann');
});

test.each(KINDS)('%s reads a question that stands in for a result with an output schema', async (kind) => {
  const memory = join(ROOT, 'tests/peers/node_modules/@modelcontextprotocol/server-memory/dist/index.js');
  using home = new Home();
  const env = { MEMORY_FILE_PATH: join(home.path, 'memory.json') };
  const server = { command: process.execPath, args: [memory], env };
  const gateway = createGateway({
    servers: { memory: server },
    log: silent,
    steps: [approve({ when: 'destructive' })],
    ask: { trust: 'all' },
  });
  open.push(() => gateway.close());
  const client = await connectSdk(kind, (await gateway.listen({ port: 0 })).url);
  open.push(() => client.client.close());
  // A client that has listed tools checks their results.
  const { tools } = await client.client.listTools();
  expect(tools.find(({ name }) => name === 'delete_entities')).toHaveProperty('outputSchema');
  expect(await client.call('delete_entities', { entityNames: ['nobody'] })).toContain('has not finished');
});

test('the question shows the titles of choices, and distinguishes lists from single choices', async () => {
  const everything = join(ROOT, 'tests', 'peers', 'node_modules', '.bin', 'mcp-server-everything');
  const client = await v1(await serve({ servers: { everything: { command: everything, args: ['stdio'] } } }));
  const { content, _meta } = await client.callTool({ name: 'trigger-elicitation-request' });
  const [{ text = '' } = {}] = content as { text?: string }[];
  const lineOf = (field: string): string => text.split('\n').find((line) => line.startsWith(`- ${field} `)) ?? '';
  expect(lineOf('untitledSingleSelectEnum')).toContain('(one of "Monica", "Rachel", ');
  expect(lineOf('titledSingleSelectEnum')).toContain('(one of "hero-1" “Superman”, "hero-2" “Green Lantern”, ');
  expect(lineOf('legacyTitledEnum')).toContain('(one of "pet-1" “Cats”, "pet-2" “Dogs”, ');
  expect(lineOf('untitledMultipleSelectEnum')).toContain('(a list of any of "Guitar", ');
  expect(lineOf('titledMultipleSelectEnum')).toMatch(/\(a list of any of "fish-1" “Tuna”.*, minItems 1, maxItems 3/);
  expect(text).toContain('"titledMultipleSelectEnum":["<value>"]');
  const answer = { name: 'Ann', titledSingleSelectEnum: 'Green Lantern', titledMultipleSelectEnum: ['Tuna'] };
  const handle = String(_meta?.['mcp-parley/handle']);
  const done = await client.callTool({ name: 'parley_answer', arguments: { handle, answer } });
  expect(JSON.stringify(done)).toContain('hero-2');
});
