// Resource rules before SDK servers that accept many spellings of a URI: a denied resource cannot be read by any spelling, path
// or era.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import type { GatewayOptions } from '../../../src/_entries/index.ts';
import { filter } from '../../../src/_entries/middleware.ts';
import type { Rule } from '../../../src/gateway/features/filter/filter.ts';
import { ROOT } from '../../helpers/files.ts';

const PROGRAM = join(ROOT, 'tests', 'peers', 'borders', 'servers', 'vault-v1.mjs');
const vault = (name: string, env = {}) => ({
  command: process.execPath,
  args: [PROGRAM],
  env: { NAME: name, ...env },
});

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function serve(resources: Rule, options: GatewayOptions = {}): Promise<string> {
  const gateway = createGateway({
    servers: { one: vault('one'), two: vault('two') },
    groups: { both: ['one', 'two'] },
    steps: [filter({ resources })],
    log: createLog({ level: 'silent' }),
    ask: { channels: [] },
    ...options,
  });
  open.push(() => gateway.close());
  return (await gateway.listen({ port: 0 })).url;
}

interface Peer {
  list(): Promise<string[]>;
  templates(): Promise<string[]>;
  /** Everything that can be done with a URI, and what came of it. */
  use(uri: string): Promise<string[]>;
}

async function v1(url: string): Promise<Peer> {
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  return peerOf(client, async (uri) => {
    await client.subscribeResource({ uri });
    return `subscribed to ${uri}`;
  });
}

async function v2(url: string): Promise<Peer> {
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new TransportV2(new URL(url)));
  open.push(() => client.close());
  return peerOf(client);
}

function peerOf(client: Client | ClientV2, subscribe?: (uri: string) => Promise<string>): Peer {
  const argument = { name: 'key', value: '' };
  const uses = [
    async (uri: string) => JSON.stringify((await client.readResource({ uri })).contents),
    async (uri: string) => JSON.stringify(await client.complete({ ref: { type: 'ref/resource', uri }, argument })),
    ...(subscribe ? [subscribe] : []),
  ];
  const refused = (thrown: Error) => `refused: ${thrown.message}`;
  return {
    list: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    use: async (uri) => {
      const came: string[] = [];
      for (const use of uses) came.push(await use(uri).catch(refused));
      return came;
    },
  };
}

const PATHS = ['', '/both', '/one', '/two'];
const withServer = (server: string, uri: string) => `parley://${server}/${encodeURIComponent(uri)}`;

const SECRETS = [
  'vault:///secret/key',
  'vault:///./secret/key',
  'vault:///%73ecret/key',
  'vault:///%2573ecret/key',
  'vault:///ok/../secret/key',
  'vault:///ok/%2e%2e/secret/key',
  'vault:///ok/..%2Fsecret/key',
  String.raw`vault:///ok\..\secret\key`,
  'vault:////secret/key',
  'vault:///secret//key',
  'vault:/secret/key',
  'VAULT:///secret/key',
  'vault:///secret/key?x=1',
  'vault:///secret/key#x',
  'vault:///secret/key?%',
  'vault:///%73ecret/key?x=%zz',
  'vault:///ok/../secret/key/',
  'vault://ok/../secret/key',
  ' vault:///secret/key',
];
const ALL_SECRETS = SECRETS.flatMap((uri) => [uri, withServer('one', uri), withServer('two', uri)]);

test.each([
  ['denied', { deny: ['vault:///secret/*'] }],
  ['not among what is allowed', { allow: ['vault:///ok/*', 'note://*'] }],
])('what is %s is read by no spelling, at no path, in no era', async (_, rule) => {
  const url = await serve(rule);
  for (const path of PATHS) {
    for (const connect of [v1, v2]) {
      const peer = await connect(url + path);
      for (const uri of ALL_SECRETS) {
        const came = await peer.use(uri);
        expect(came.join(), `${path} ${uri}`).not.toContain('vault:///secret/key of');
        expect(
          came.every((one) => one.startsWith('refused')),
          `${path} ${uri} ${came.join()}`,
        ).toBe(true);
      }
      expect((await peer.list()).join()).not.toContain('secret');
      expect((await peer.templates()).join()).not.toContain('secret');
      expect((await peer.use('vault:///ok/readme'))[0]).toMatch(/vault:\/\/\/ok\/readme of (one|two)/);
      expect((await peer.use('vault:///ok/my%20notes'))[0]).toMatch(/vault:\/\/\/ok\/my notes of (one|two)/);
      expect((await peer.list()).join()).toContain('vault:///ok/readme');
    }
  }
});

test.each([
  ['its public URI', ['ui://two/app/*', withServer('two', 'note://same'), withServer('two', 'vault:///secret/key')]],
  ['its server and URI', ['two__ui://app/*', 'two__note://same', 'two__vault:///secret/*']],
])('a resource that is denied by %s is read at no path', async (_, deny) => {
  const denied = ['ui://app/index.html', 'note://same', ...SECRETS];
  const url = await serve({ deny });
  for (const connect of [v1, v2]) {
    for (const path of PATHS) {
      const peer = await connect(url + path); // nothing has been listed yet
      const joined = path === '' || path === '/both' ? ['ui://two/app/index.html'] : [];
      for (const uri of [...denied, ...denied.map((uri) => withServer('two', uri)), ...joined]) {
        expect((await peer.use(uri)).join(), `${path} ${uri}`).not.toMatch(/(ui:|note:|secret).* of two/);
      }
    }
    const one = await connect(`${url}/one`);
    expect((await one.use('note://same'))[0]).toContain('note://same of one');
    const all = await connect(url);
    expect((await all.use('note://same'))[0]).toContain('note://same of one');
    expect((await all.use('ui://one/app/index.html'))[0]).toContain('of one');
  }
});

test('a server does not gain permissions by imitating the URIs of another', async () => {
  const posing = [withServer('one', 'vault:///ok/readme'), 'one__vault:///ok/readme', 'ui://one/app/index.html'];
  const allow = [withServer('one', '*').replace('%2A', '*'), 'one__*', 'ui://one/*'];
  const url = await serve(
    { allow },
    { servers: { one: vault('one'), evil: vault('evil', { LISTED: posing.join(' ') }) }, groups: {} },
  );
  for (const connect of [v1, v2]) {
    for (const path of ['', '/evil']) {
      const peer = await connect(url + path);
      expect((await peer.list()).filter((uri) => uri.includes('evil'))).toEqual([]);
      for (const uri of [...posing, ...posing.map((uri) => withServer('evil', uri)), 'ui://evil/one/app/index.html']) {
        expect((await peer.use(uri)).join(), uri).not.toContain('of evil');
      }
    }
    const peer = await connect(url);
    expect((await peer.use('vault:///ok/readme'))[0]).toContain('of one');
  }
});

test('links in the result of the first call, before any list, lead to the server of the tool', async () => {
  const url = await serve({ deny: ['none://'] });
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(() => client.close());
  const { content } = await client.callTool({ name: 'two__show' });
  expect(content).toMatchObject([
    { uri: withServer('two', 'note://same') },
    { resource: { uri: 'ui://two/app/index.html' } },
  ]);
});
