// What an aggregate says, it does: fields of its lists, and resources that servers have but do not list.
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Step } from 'mcp-parley';
import { filter } from 'mcp-parley/middleware';
import { fixture } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await within('closing', close());
});

async function joined(env: Record<string, Record<string, string>> = {}, steps: Step[] = []) {
  const servers = Object.fromEntries(
    ['alpha', 'beta', 'gamma'].map((name) => [name, fixture('unlisted', [], { env: { NAME: name, ...env[name] } })]),
  );
  const gateway = createGateway({ servers, steps, log, startMs: 60_000 });
  open.push(() => gateway.close());
  const { wire } = await socketWire(Number(new URL((await gateway.listen({ port: 0 })).url).port));
  await wire.initialize();
  return wire;
}

test('copies a field of a list only if all servers agree on it', async () => {
  const wire = await joined();
  const { result } = await wire.request('tools/list');
  expect(result).toMatchObject({ shared: { same: true }, _meta: { 'example/all': 1 } });
  expect(result).not.toHaveProperty('tag');
  expect(result).not.toHaveProperty(['_meta', 'example/of']);
});

test('finds a resource that no server lists by asking the servers that list nothing', async () => {
  const wire = await joined();
  const { result } = await wire.request('resources/read', { uri: 'memo://beta/1' });
  expect(result).toMatchObject({ contents: [{ text: 'read by beta' }] });
  expect((await wire.request('resources/read', { uri: 'memo://nobody/1' })).error).toMatchObject({ code: -32002 });
});

test('asks a server with resources of that scheme first, and none that has others', async () => {
  const wire = await joined({ alpha: { LISTS: 'note://1' }, gamma: { LISTS: 'memo://gamma/0' } });
  await wire.request('resources/read', { uri: 'memo://gamma/1' });
  await wire.request('resources/read', { uri: 'memo://beta/1' });
  const seen = async (server: string) => (await wire.call(`${server}__seen`)).result;
  expect(await seen('alpha')).toMatchObject({ content: [{ text: '[]' }] });
  expect(await seen('beta')).toMatchObject({ content: [{ text: '["memo://beta/1"]' }] });
  expect(await seen('gamma')).toMatchObject({ content: [{ text: '["memo://gamma/1","memo://beta/1"]' }] });
});

test('does not ask a server for what it may not be asked', async () => {
  const wire = await joined({}, [filter({ resources: { deny: ['beta__memo://*'] } })]);
  expect((await wire.request('resources/read', { uri: 'memo://beta/1' })).error).toBeDefined();
  expect((await wire.call('beta__seen')).result).toMatchObject({ content: [{ text: '[]' }] });
});
