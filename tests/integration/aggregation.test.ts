// Several servers in real processes as one: resources, templates, prompts, completion and subscriptions go to their owner, groups
// show a part, and a server that is away or hangs costs the others nothing.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Client, ServerEntry } from 'mcp-parley';
import { fixture, textOf } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { serving, toolNames } from '../helpers/moody.ts';
import { Home } from '../helpers/parley.ts';
import { until, within } from '../helpers/until.ts';

const REVISIONS = ['2025-06-18', '2026-07-28'];
const shelf = (name: string) => fixture('shelf', [name]);
const three = (): Record<string, ServerEntry> => ({ one: shelf('one'), two: shelf('two'), three: shelf('three') });
const START = { startMs: 60_000 };
/** The public form of a URI that an earlier server has, too. */
const sameOf = (server: string) => `parley://${server}/${encodeURIComponent('note://same')}`;

async function textAt(client: Client, uri: string): Promise<unknown> {
  const { contents } = await within(`the resource ${uri}`, client.readResource(uri));
  return (contents[0] as { text?: string }).text;
}

describe.each(REVISIONS)('three servers, for a client of %s', (revision) => {
  test('lists, resources, templates, prompts and completion are those of all', async () => {
    await using gateway = await serving({ servers: three(), ...START });
    const client = await gateway.client({ revision });
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual([
      'note://one',
      'note://same',
      'note://two',
      sameOf('two'),
      'note://three',
      sameOf('three'),
    ]);
    expect((await client.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'item://one/{id}',
      'item://two/{id}',
      'item://three/{id}',
    ]);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['one__greet', 'two__greet', 'three__greet']);
    expect(await textAt(client, 'note://three')).toBe('note of three');
    expect(await textAt(client, 'note://same')).toBe('same of one');
    expect(await textAt(client, sameOf('two'))).toBe('same of two');
    expect(await textAt(client, 'item://two/7')).toBe('item 7 of two');
    await expect(client.readResource('item://four/7')).rejects.toThrow(/not found/i);
    expect((await client.getPrompt('two__greet')).messages).toMatchObject([{ content: { text: 'two' } }]);
    const typed = { name: 'who', value: 'A' };
    expect((await client.complete({ prompt: 'three__greet' }, typed)).values).toEqual(['A of three']);
    const id = { name: 'id', value: '4' };
    expect((await client.complete({ template: 'item://two/{id}' }, id)).values).toEqual(['4-two']);
  });

  test.each(['handshake', 'stateless'] as const)(
    'a subscription goes to the %s server whose resource it is, also by a template',
    async (era) => {
      const servers = Object.fromEntries(['one', 'two', 'three'].map((name) => [name, { server: shelf(name), era }]));
      await using gateway = await serving({ servers, ...START });
      const client = await gateway.client({ revision });
      const heard: string[] = [];
      for (const uri of ['note://two', 'item://three/4']) await client.subscribe(uri, (told) => void heard.push(told));
      await textOf(client, 'one__touch', { uri: 'note://one' });
      await textOf(client, 'three__touch', { uri: 'item://three/4' });
      await until('the update of three', () => heard.includes('item://three/4'));
      await textOf(client, 'two__touch', { uri: 'note://two' });
      await until('the update of two', () => heard.includes('note://two'));
      expect(heard).not.toContain('note://one');
    },
  );

  test('a group has its servers alone, by the names they have in the whole', async () => {
    await using gateway = await serving({ servers: three(), groups: { some: ['three', 'one'] }, ...START });
    const whole = await gateway.client({ revision });
    const all = await toolNames(whole);
    const some = await gateway.client({ revision, part: 'some' });
    expect(await toolNames(some)).toEqual(all.filter((name) => !name.startsWith('two__')));
    expect(await textOf(some, 'three__pid')).toBe(await textOf(whole, 'three__pid'));
    expect((await some.listResources()).map(({ uri }) => uri)).toEqual([
      'note://one',
      'note://same',
      'note://three',
      sameOf('three'),
    ]);
    await expect(some.callTool('two__pid')).rejects.toThrow('Unknown tool');
    gateway.gateway.update({ groups: { some: ['two', 'three'] } });
    await until('the other group', async () => (await toolNames(some)).includes('two__pid'));
    expect(await toolNames(some)).not.toContain('one__pid');
    gateway.gateway.update({ groups: {} });
    expect((await send(`${gateway.url}/some`, modern('tools/list'))).status).toBe(404);
  });
});

describe('a server that others stand behind', () => {
  test('and that is away keeps nobody from their templates', async () => {
    using home = new Home();
    const env = { ONCE: join(home.path, 'started') };
    const once = { server: fixture('shelf', ['one'], { env }), era: 'handshake' } as const;
    await using gateway = await serving({ servers: { ...three(), one: once }, ...START });
    const client = await gateway.client();
    expect(await textAt(client, 'item://one/1')).toBe('item 1 of one');
    await client.callTool('one__die').catch(() => {});
    await expect(client.readResource('note://one')).rejects.toThrow('exit code 1');
    expect(await textAt(client, 'item://three/4')).toBe('item 4 of three');
    await client.subscribe('item://three/4', () => {});
    await expect(client.readResource('item://one/1')).rejects.toThrow('exit code 1');
    await expect(client.readResource('item://nobody/1')).rejects.toThrow('exit code 1'); // it might have known
  });

  test.each(REVISIONS)('and that hangs is waited for once, and marked, for a client of %s', async (revision) => {
    await using gateway = await serving({ servers: three(), startMs: 5000 });
    const client = await gateway.client({ revision });
    await until('all to be there', async () => (await client.listResourceTemplates()).length === 3);
    await until('all to be there', async () => (await client.listResources()).length === 6);
    const pid = Number(await textOf(client, 'one__pid'));
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await textAt(client, 'item://three/4')).toBe('item 4 of three');
      expect(await textAt(client, 'note://two')).toBe('note of two');
      const newcomer = await gateway.client({ revision });
      const listed = (await newcomer.listResources()).find(({ uri }) => uri === 'note://one');
      expect(listed?._meta).toHaveProperty('mcp-parley/unavailable');
      expect(await textAt(newcomer, 'item://three/4')).toBe('item 4 of three');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
