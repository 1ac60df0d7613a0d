// Two servers share URIs: each tool leads to the resources of its own server.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { filter } from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';
import { until } from '../../helpers/until.ts';

const PROGRAM = join(ROOT, 'tests', 'peers', 'borders', 'servers', 'pages-v1.mjs');
const pages = (name: string) => ({ command: process.execPath, args: [PROGRAM], env: { NAME: name } });

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function clientOf(options: Partial<GatewayOptions> = {}, path = ''): Promise<Client> {
  const servers = { bank: pages('bank'), weather: pages('weather') };
  const gateway = createGateway({ servers, log: createLog({ level: 'silent' }), ask: { channels: [] }, ...options });
  open.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}${path}`)));
  open.push(() => client.close());
  return client;
}

async function textAt(client: Client, uri: string): Promise<{ uri: string; text: unknown }> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents as { uri: string; text: unknown }[];
  return { uri: content.uri, text: content.text };
}

test('the page of a tool is read from the server of the tool', async () => {
  const client = await clientOf();
  const { tools } = await client.listTools();
  for (const { name, _meta } of tools) {
    const { ui, 'ui/resourceUri': old } = _meta as { ui: { resourceUri: string }; 'ui/resourceUri': string };
    const [server] = name.split('__');
    expect(old).toBe(ui.resourceUri);
    expect(ui.resourceUri).toBe(`ui://${server}/app/index.html`);
    expect(await textAt(client, old)).toEqual({ uri: old, text: `ui://app/index.html of ${server}` });
  }
  expect(tools).toHaveLength(2);
});

test('a URI that two servers share is listed for both, and each form is read from its server', async () => {
  const client = await clientOf();
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  const second = `parley://weather/${encodeURIComponent('note://same')}`;
  expect(uris).toEqual([
    'ui://bank/app/index.html',
    'note://same',
    'note://bank',
    'ui://weather/app/index.html',
    second,
    'note://weather',
  ]);
  expect(await textAt(client, 'note://same')).toEqual({ uri: 'note://same', text: 'note://same of bank' });
  expect(await textAt(client, second)).toEqual({ uri: second, text: 'note://same of weather' });
  expect(await textAt(client, 'note://weather')).toEqual({ uri: 'note://weather', text: 'note://weather of weather' });
});

test('links and embedded resources of a result, and updates, lead to the server that sent them', async () => {
  const client = await clientOf();
  await client.listTools();
  await client.listResources();
  const second = `parley://weather/${encodeURIComponent('note://same')}`;
  const heard: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri));
  await client.subscribeResource({ uri: second });
  const { content } = await client.callTool({ name: 'weather__show' });
  expect(content).toMatchObject([
    { type: 'resource_link', uri: second },
    { type: 'resource', resource: { uri: 'ui://weather/app/index.html', text: 'inline' } },
    { type: 'text', text: 'note://same' },
  ]);
  await until('the update', () => heard.length > 0);
  expect(heard).toEqual([second]);
  const first = await client.callTool({ name: 'bank__show' });
  expect(first.content).toMatchObject([{ uri: 'note://same' }, {}, {}]);
});

test("a rule on the server's own URI holds for the public form", async () => {
  const client = await clientOf({ steps: [filter({ resources: { deny: ['note://same', 'ui://app/*'] } })] });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(['note://bank', 'note://weather']);
  const second = `parley://weather/${encodeURIComponent('note://same')}`;
  for (const uri of [second, 'note://same', 'ui://weather/app/index.html', 'parley://weather/note%3A%2F%2F%73ame']) {
    await expect(client.readResource({ uri }), uri).rejects.toThrow(/denied/i);
  }
});

test('a server alone keeps its URIs', async () => {
  const client = await clientOf({}, '/weather');
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(['ui://app/index.html', 'note://same', 'note://weather']);
  const { tools } = await client.listTools();
  expect(tools[0]._meta).toMatchObject({ ui: { resourceUri: 'ui://app/index.html', visibility: ['model'] } });
});
