// Servers that end in good order while clients stay: because nobody uses them, or because their configuration has changed.
// Real processes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Client } from 'mcp-parley';
import { connected, fixture, textOf, untilGone } from '../helpers/fixture-server.ts';
import { serving, stateOf } from '../helpers/moody.ts';
import { Home } from '../helpers/parley.ts';
import { until, within } from '../helpers/until.ts';

const REVISIONS = ['2025-11-25', '2026-07-28'];
const shelf = (name: string) => fixture('shelf', [name]);

/** A call that is under way until the file is there. */
async function waiting(client: Client, tool: string, file: string) {
  const heard: unknown[] = [];
  let call!: ReturnType<Client['callTool']>;
  const started = new Promise<void>((resolve) => {
    const onProgress = ({ progress }: { progress: number }) => {
      heard.push(progress);
      resolve();
    };
    call = client.callTool(tool, { file }, { onProgress });
  });
  await within('the call to start', started);
  return { call, heard };
}

test('a server is started when a client first needs it, or at once where that is wished', async () => {
  const servers = { lazy: shelf('lazy'), eager: { server: shelf('eager'), start: 'eager' } } as const;
  await using gateway = await serving({ servers, startMs: 60_000 });
  await until('the one to be there', () => stateOf(gateway, 'eager') === 'ready');
  expect(stateOf(gateway, 'lazy')).toBe('idle');
  const client = await gateway.client();
  await textOf(client, 'lazy__pid');
  expect(stateOf(gateway, 'lazy')).toBe('ready');
});

describe.each(REVISIONS)('a server that nobody uses, for a client of %s', (revision) => {
  test('is stopped, and started again for the next call', async () => {
    await using gateway = await serving({ servers: { one: { server: shelf('one'), idleMs: 200 } }, startMs: 60_000 });
    const client = await gateway.client({ revision });
    const first = await textOf(client, 'pid');
    await untilGone([Number(first)]);
    expect(stateOf(gateway, 'one')).toBe('idle');
    expect(await textOf(client, 'pid')).not.toBe(first);
  });

  test('is not stopped while a client is subscribed to something', async () => {
    const idle = (name: string) => ({ server: shelf(name), idleMs: 200 });
    const servers = { one: idle('one'), other: idle('other') };
    await using gateway = await serving({ servers, names: 'always', startMs: 60_000 });
    const client = await gateway.client({ revision });
    const heard: string[] = [];
    const unsubscribe = await client.subscribe('note://one', (uri) => void heard.push(uri));
    const pid = await textOf(client, 'one__pid');
    await untilGone([Number(await textOf(client, 'other__pid'))]); // a server that was used later
    expect(await textOf(client, 'one__pid')).toBe(pid);
    await until('an update', async () => {
      await textOf(client, 'one__touch', { uri: 'note://one' });
      return heard.length > 0;
    });
    await unsubscribe();
    await untilGone([Number(pid)]);
  });

  test('is not stopped while a call is under way', async () => {
    using home = new Home();
    const file = join(home.path, 'go-on');
    const idle = (name: string) => ({ server: shelf(name), idleMs: 200 });
    const servers = { one: idle('one'), other: idle('other') };
    await using gateway = await serving({ servers, names: 'always', startMs: 60_000 });
    const client = await gateway.client({ revision });
    const { call } = await waiting(client, 'one__wait', file);
    await untilGone([Number(await textOf(client, 'other__pid'))]); // a server that was used later
    writeFileSync(file, '');
    expect((await within('the call to end', call)).content).toMatchObject([
      { text: expect.stringMatching(/^one has waited/) },
    ]);
  });
});

describe.each(REVISIONS)('a server whose configuration changes, for a client of %s', (revision) => {
  test('is restarted; its calls under way finish, and clients are told of its lists', async () => {
    using home = new Home();
    const write = (name: string) =>
      home.write('parley.config.json', {
        servers: { other: shelf('other'), changed: shelf(name) },
        names: 'always',
        ask: { channels: [] },
      });
    write('before');
    await using gateway = home.start(['serve', '--port', '0', '--open']);
    await using client = await connected(await gateway.url(), { revision });
    const listed = async () => (await client.listTools()).map(({ name }) => name);
    await until(
      'all tools',
      async () => (await listed()).includes('changed__pid') && (await listed()).includes('other__pid'),
    );
    const [other, before] = [await textOf(client, 'other__pid'), await textOf(client, 'changed__pid')];
    let told = 0;
    client.on('tools', () => void (told += 1));
    const file = join(home.path, 'go-on');
    const { call, heard } = await waiting(client, 'changed__wait', file);
    write('after');
    await gateway.says('has changed: restarted changed.');
    await until('word of the change', () => told > 0);
    await until('the new server', async () => (await textOf(client, 'changed__pid')) !== before);
    writeFileSync(file, '');
    const { content } = await within('the call to end', call);
    expect(content).toMatchObject([{ text: `before has waited in ${before}` }]);
    expect(heard).toEqual([1, 2]);
    await untilGone([Number(before)]);
    expect(await textOf(client, 'other__pid')).toBe(other);
  });
});
