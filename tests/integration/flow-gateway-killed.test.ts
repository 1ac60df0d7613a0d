// A person answers on the page of a gateway, the flow behind it ends, and the gateway is killed before its client has fetched how. The server of
// the flow keeps that until the client has it: the next call gets the same result, and nothing is done twice.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { connected, fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home, Parley } from '../helpers/parley.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const folder = mkdtempSync(join(tmpdir(), 'parley-hop-'));
const ledger = join(folder, 'ledger');
const paid = (): string[] => readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
let server: HttpFixture;
const SHOP = {
  get shop() {
    return { url: server.url, headers: { 'x-user': 'ada' } };
  },
};

beforeAll(async () => {
  const place = { sqlite: { path: join(folder, 'flows.db') } };
  server = await startHttp(fixture('keeps-results', [JSON.stringify(place), ledger]));
});
afterAll(async () => {
  await server.stop();
  removeFolder(folder);
});

interface Called {
  text: string;
  handle: unknown;
  /** Where its question is answered. */
  link: string;
}

interface Caller extends AsyncDisposable {
  call(name: string, args: Record<string, unknown>): Promise<Called>;
}

const CALLERS: Record<string, (url: string) => Promise<Caller>> = {
  async 'the official client'(url) {
    const client = new Client({ name: 'official', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return {
      call: async (name, args) => toCalled(await client.callTool({ name, arguments: args })),
      [Symbol.asyncDispose]: () => client.close().catch(() => {}),
    };
  },
  async 'a client of 2026-07-28'(url) {
    const client = await connected(url, { revision: '2026-07-28' });
    return {
      call: async (name, args) => toCalled(await client.callTool(name, args)),
      [Symbol.asyncDispose]: () => client.close(),
    };
  },
};

function toCalled({ content, _meta }: { content?: unknown; _meta?: Record<string, unknown> | undefined }): Called {
  const { text } = (content as { text: string }[])[0]!;
  return { text, handle: _meta?.['mcp-parley/handle'], link: /http:\S+\/ask\?\S+/.exec(text)?.[0] ?? '' };
}

/** A gateway that tells in its log how calls ended, also if nobody has fetched it. */
function startGateway(home: Home, mcpServers: object = SHOP): Parley {
  const file = home.write('mcp.json', { mcpServers: { ...mcpServers }, ask: { trust: 'all' } });
  return start(home, ['serve', file, '--port', '0', '--open', '--log-calls']);
}

const hasEnded = (gateway: Parley) => () => gateway.logged('call').some(({ outcome }) => outcome === 'ok');

test.each(Object.keys(CALLERS))('what a flow came to outlives the gateway that holds it for %s', async (name) => {
  writeFileSync(ledger, '');
  const home = newHome();
  const args = { what: `a lamp for ${name}` };
  const first = startGateway(home);
  {
    await using client = await CALLERS[name]!(await first.url());
    const asked = await client.call('pay', args);
    expect(asked.text).toContain('Only the user can answer this');
    await new FakeBrowser().fill(asked.link, { 'q0.0': 'true' });
    await until('the result to be at the gateway', hasEnded(first));
    await first.stop('SIGKILL');
  }
  expect(paid()).toEqual([args.what]);

  const second = startGateway(home);
  await using client = await CALLERS[name]!(await second.url());
  const offered = await client.call('pay', args);
  expect(offered.text).toContain('it has ended since');
  await new FakeBrowser().fill(offered.link, { 'q0.0': 'true' });
  const { text } = await client.call('parley_answer', { handle: offered.handle });
  expect(text).toBe(`paid for ${args.what}`);
  expect(paid()).toEqual([args.what]);
});

test.each(Object.keys(CALLERS))('what %s has fetched through a gateway is not offered again', async (name) => {
  writeFileSync(ledger, '');
  const home = newHome();
  const args = { what: `a chair for ${name}` };
  const gateway = startGateway(home);
  await using client = await CALLERS[name]!(await gateway.url());
  const asked = await client.call('pay', args);
  await new FakeBrowser().fill(asked.link, { 'q0.0': 'true' });
  expect((await client.call('parley_answer', { handle: asked.handle })).text).toBe(`paid for ${args.what}`);
  await until('a call to ask again', async () => !(await client.call('pay', args)).text.includes('ended since'));
});

test('what a flow came to outlives the first of two gateways before it', async () => {
  writeFileSync(ledger, '');
  const [home, args] = [newHome(), { what: 'a table' }];
  const middle = startGateway(newHome(), { weather: WEATHER, ...SHOP });
  const servers = { middle: { url: await middle.url() } };
  const first = startGateway(home, servers);
  {
    await using client = await CALLERS['the official client']!(await first.url());
    const asked = await client.call('shop__pay', args);
    await new FakeBrowser().fill(asked.link, { 'q0.0': 'true' });
    await until('the result to be at the first gateway', hasEnded(first));
    await first.stop('SIGKILL');
  }
  const second = startGateway(home, servers);
  await using client = await CALLERS['the official client']!(await second.url());
  const offered = await client.call('shop__pay', args);
  expect(offered.text).toContain('it has ended since');
  await new FakeBrowser().fill(offered.link, { 'q0.0': 'true' });
  expect((await client.call('parley_answer', { handle: offered.handle })).text).toBe(`paid for ${args.what}`);
  expect(paid()).toEqual([args.what]);
  // It is acknowledged to the server, through both.
  await until('a call to ask again', async () => !(await client.call('shop__pay', args)).text.includes('ended since'));
});
