// A server with one malformed entry in each of its lists: an official client refuses the whole list for it. Behind the gateway it gets the others.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { Gateway } from '../../../src/_entries/index.ts';
import { ROOT } from '../../helpers/files.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';

const GOOD = { name: 'good', inputSchema: { type: 'object' } };
const SHAPES: Record<string, unknown> = {
  'a name that is a number': { name: 5, inputSchema: { type: 'object' } },
  'no inputSchema': { name: 'bad' },
  'an inputSchema of another type': { name: 'bad', inputSchema: { type: 'array' } },
  'a property that is not a schema': { name: 'bad', inputSchema: { type: 'object', properties: { a: 5 } } },
  'a description that is a number': { ...GOOD, name: 'bad', description: 5 },
  'annotations that are a text': { ...GOOD, name: 'bad', annotations: 'none' },
  'icons that are not a list': { ...GOOD, name: 'bad', icons: {} },
  'an entry that is not an object': 'bad',
};
const LISTS = {
  prompts: [{ name: 'good' }, { name: 'bad', arguments: [{ description: 'no name' }] }],
  resources: [
    { uri: 'file:///good', name: 'good' },
    { uri: 'file:///bad', name: 'bad', size: 'large' },
  ],
  resourceTemplates: [{ uriTemplate: 'file:///{good}', name: 'good' }, { name: 'bad' }],
};

const folder = mkdtempSync(join(tmpdir(), 'parley-malformed-'));
const file = join(folder, 'lists.json');
const args = [join(ROOT, 'tests/fixtures/servers/lists-anything.mjs'), file];
const server = { command: process.execPath, args };
const say = (entry: unknown) => writeFileSync(file, JSON.stringify({ ...LISTS, tools: [GOOD, entry] }));
let gateways: { gateway: Gateway; url: string; name: (own: string) => string }[] = [];
beforeAll(async () => {
  say(GOOD);
  const log = createLog({ level: 'silent' });
  const alone = createGateway({ servers: { hostile: server }, log });
  const joined = createGateway({ servers: { hostile: server, other: { command: process.execPath, args } }, log });
  gateways = [
    { gateway: alone, url: (await alone.listen({ port: 0 })).url, name: (own) => own },
    { gateway: joined, url: (await joined.listen({ port: 0 })).url, name: (own) => `hostile__${own}` },
  ];
});
afterAll(async () => {
  await Promise.all(gateways.map(({ gateway }) => gateway.close()));
  removeFolder(folder);
});

describe.each(Object.keys(SHAPES))('%s', (shape) => {
  test('makes an official client refuse the list of the server itself', async () => {
    say(SHAPES[shape]);
    const client = new Client({ name: 'borders', version: '1' });
    await client.connect(new StdioClientTransport(server));
    await expect(client.listTools()).rejects.toThrow();
    await client.close();
  });

  test.each(KINDS)('costs %s behind the gateway one tool, and no other', async (kind) => {
    say(SHAPES[shape]);
    for (const { url, name } of gateways) {
      await using sdk = await connectSdk(kind, url);
      const { tools } = await sdk.client.listTools();
      const names = tools.map((tool) => tool.name);
      expect(names).toContain(name('good'));
      expect(names.filter((one) => !one.endsWith('good') && !one.startsWith('parley_'))).toEqual([]);
      expect(await sdk.call(name('good'))).toBe('good was called');
    }
  });
});

test.each(KINDS)('prompts, resources and templates are checked, too: %s', async (kind) => {
  say(GOOD);
  for (const { url } of gateways) {
    await using sdk = await connectSdk(kind, url);
    const { prompts } = await sdk.client.listPrompts();
    const { resources } = await sdk.client.listResources();
    const { resourceTemplates } = await sdk.client.listResourceTemplates();
    const names = [...prompts, ...resources, ...resourceTemplates].map(({ name }) => name.replace(/^.*__/, ''));
    expect(new Set(names)).toEqual(new Set(['good']));
    expect([prompts.length, resources.length, resourceTemplates.length].every((count) => count > 0)).toBe(true);
  }
});
