// The step `discover` in a gateway with rules: what a search finds is what its caller may see, and what call_tool calls is what is judged.
import { afterEach, expect, it } from 'vitest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Gateway, GatewayOptions } from '../../src/gateway/gateway.ts';
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { createLog } from '../../src/kernel/base/log.ts';
import { createServer } from '../../src/sdk/server/create-server.ts';
import { discover } from '../../src/gateway/features/discover/discover.ts';

const log = createLog({ level: 'silent' });
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

function createDesk() {
  const desk = createServer({ name: 'desk', version: '1.0.0', log });
  desk.tool('say', { description: 'Says a word', input: { word: 'string' } }, ({ word }) => `said ${String(word)}`);
  desk.tool('drop', { description: 'Drops a table of words' }, () => 'dropped');
  desk.tool('hidden', { description: 'A word that nobody sees' }, () => 'seen');
  return desk;
}

async function serve(options: Partial<GatewayOptions> = {}): Promise<{ gateway: Gateway; url: string }> {
  const gateway = createGateway({
    servers: { desk: createDesk(), other: createDesk() },
    steps: [discover({ mode: 'search', clients: { whole: 'all' } })],
    rules: [
      { tool: 'drop', effect: 'deny' },
      { tool: 'hidden', effect: 'hide' },
    ],
    ask: { channels: [] },
    log,
    ...options,
  });
  open.push(gateway);
  const { url } = await gateway.listen({ port: 0 });
  return { gateway, url };
}

async function connectSdk(url: string, name: string): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(client);
  return client;
}

const textOf = ({ content }: object & { content?: unknown }): string => (content as { text: string }[])[0]!.text;

it('an official client finds and calls tools through two tools, and rules judge what call_tool calls', async () => {
  const audited: AuditEvent[] = [];
  const { url } = await serve({ audit: (event) => void audited.push(event) });
  const [client, beside] = [await connectSdk(url, 'model'), await connectSdk(url, 'whole')];
  const names = async (one: Client) => (await one.listTools()).tools.map(({ name }) => name);
  expect(await names(client)).toEqual(['find_tools', 'call_tool']);
  expect(await names(beside)).toEqual(['desk__say', 'other__say']);

  const found = textOf(await client.callTool({ name: 'find_tools', arguments: { query: 'say a word', limit: 10 } }));
  expect(found).toContain('"desk__say"');
  expect(found).not.toContain('hidden');

  const call = { name: 'call_tool', arguments: { name: 'other__say', arguments: { word: 'hello' } } };
  expect(textOf(await client.callTool(call))).toBe('said hello');
  expect(textOf(await client.callTool(call))).toBe('said hello');
  for (const name of ['desk__drop', 'desk__hidden', 'nobody__say']) {
    const refused = client.callTool({ name: 'call_tool', arguments: { name } });
    await expect(
      refused.then(
        (result) => (result.isError ? textOf(result) : 'ran'),
        () => 'refused',
      ),
    ).resolves.not.toBe('ran');
  }
  const calls = audited.filter(({ kind, method }) => kind === 'call' && method === 'tools/call');
  expect(calls.map(({ server, name, outcome }) => [server, name, outcome === 'ok'])).toEqual(
    expect.arrayContaining([
      ['other', 'say', true],
      ['desk', 'drop', false],
    ]),
  );
  expect(calls.some(({ name, outcome }) => name === 'drop' && outcome === 'ok')).toBe(false);
});

it('a list has the same bytes for every client, after a search, and in the next process', async () => {
  const bytes: string[] = [];
  for (let life = 0; life < 2; life++) {
    const { url } = await serve();
    for (const name of ['model', 'another', 'whole', 'whole']) {
      const client = await connectSdk(url, name);
      if (name === 'another') await client.callTool({ name: 'find_tools', arguments: { query: 'say' } });
      bytes.push(JSON.stringify((await client.listTools()).tools));
    }
  }
  const [search, whole] = [bytes[0], bytes[2]];
  expect(bytes).toEqual([search, search, whole, whole, search, search, whole, whole]);
});
