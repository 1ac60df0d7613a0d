// Keys of a configuration that take effect at once: clients stay connected, processes of servers stay, and a call under way ends as it would have.
// Real processes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Client } from 'mcp-parley';
import { connected, fixture, textOf } from '../helpers/fixture-server.ts';
import { Home } from '../helpers/parley.ts';
import type { Parley } from '../helpers/parley.ts';
import { until, within } from '../helpers/until.ts';

const REVISIONS = ['2025-11-25', '2026-07-28'];
const shelf = fixture('shelf', ['one']);
const other = fixture('shelf', ['other']);

const addressFor = (url: string, key: string | undefined) =>
  key === undefined ? url : { url, headers: { authorization: `Bearer ${key}` } };

interface Running extends AsyncDisposable {
  home: Home;
  url: string;
  gateway: Parley;
  client: Client;
  change(config: object, news: string): Promise<void>;
  named(): Promise<string[]>;
  /** The answer of the call that is under way since the start. */
  end(): Promise<string>;
}

/** A gateway, and a client with a call under way; with `key`, the gateway asks for logins. */
async function running(config: object, revision: string, key?: string): Promise<Running> {
  const home = new Home();
  const write = (next: object) => home.write('parley.config.json', { ask: { channels: [] }, ...next });
  write(config);
  const gateway = home.start(['serve', '--port', '0', ...(key === undefined ? ['--open'] : [])]);
  const url = await gateway.url();
  const client = await connected(addressFor(url, key), { revision });
  const named = async () => (await client.listTools()).map(({ name }) => name);
  await until('the tools', async () => (await named()).includes('one__wait'));
  const file = join(home.path, 'go-on');
  let call!: ReturnType<Client['callTool']>;
  await within(
    'the call to start',
    new Promise<void>((resolve) => {
      call = client.callTool('one__wait', { file }, { onProgress: () => resolve() });
    }),
  );
  return {
    home,
    url,
    gateway,
    client,
    named,
    async change(next, news) {
      write(next);
      await gateway.says(news);
    },
    async end() {
      writeFileSync(file, '');
      const [block] = (await within('the call to end', call)).content;
      return block?.type === 'text' ? block.text : '';
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await gateway[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

describe.each(REVISIONS)('for a client of %s', (revision) => {
  test('new rules for the tools of a server do not restart its process', async () => {
    const servers = (tools?: object) => ({
      servers: { one: { ...shelf, ...(tools && { tools }) }, other },
      names: 'always',
    });
    await using run = await running(servers(), revision);
    const pid = await textOf(run.client, 'one__pid');
    await run.change(servers({ deny: ['touch'] }), 'has changed: renewed the settings of one.');
    await until('the list without the tool', async () => !(await run.named()).includes('one__touch'));
    await expect(run.client.callTool('one__touch')).rejects.toThrow('Unknown tool');
    expect(await textOf(run.client, 'one__pid')).toBe(pid);
    await run.change(servers({ allow: ['touch'] }), 'has changed: renewed the settings of one.');
    await until('the other list', async () => !(await run.named()).includes('one__pid'));
    await run.change(servers(), 'has changed: renewed the settings of one.');
    await until('the whole list', async () => (await run.named()).includes('one__pid'));
    expect(await textOf(run.client, 'one__pid')).toBe(pid);
    expect(await run.end()).toBe(`one has waited in ${pid}`);
  });

  test('a rule for tools that cannot be read changes nothing', async () => {
    const config = (tools: object) => ({ servers: { one: { ...shelf, tools }, other }, names: 'always' });
    await using run = await running(config({ deny: ['touch'] }), revision);
    const pid = await textOf(run.client, 'one__pid');
    await run.change({ ...config({ deny: 'pid' }), groups: { all: ['one'] } }, 'cannot be used');
    expect(await run.named()).not.toContain('one__touch');
    expect(await textOf(run.client, 'one__pid')).toBe(pid);
    expect(await run.end()).toBe(`one has waited in ${pid}`);
  });

  test('another startMs holds for the lists that follow', async () => {
    const config = (startMs: number) => ({
      servers: { one: shelf, stuck: fixture('silent-before-initialize') },
      names: 'always',
      startMs,
    });
    await using run = await running(config(3000), revision);
    await run.change(config(600_000), 'has changed: renewed startMs.');
    await run.change(config(1), 'has changed: renewed startMs.');
    expect(await run.named()).toContain('one__pid');
    expect(await run.end()).toMatch(/^one has waited/);
  });

  test('another log level holds for the lines that follow', async () => {
    const config = (log: string) => ({ servers: { one: shelf, other }, names: 'always', steps: ['log'], log });
    await using run = await running(config('error'), revision);
    await textOf(run.client, 'one__pid');
    expect(run.gateway.stderr).not.toContain('"exchange"');
    await run.change(config('info'), 'has changed: renewed log.');
    await textOf(run.client, 'one__pid');
    await until('a line of the call', () => run.gateway.stderr.includes('"event":"exchange"'));
    expect(await run.end()).toMatch(/^one has waited/);
  });

  test('other keys let others in, and callers whose key has stayed keep their session and their call', async () => {
    const [ann, bob, carl] = ['ann', 'bob', 'carl'].map((name) => ({
      name,
      key: `parley_the-key-of-${name}-0123456789`,
    }));
    const config = (...keys: unknown[]) => ({ servers: { one: shelf, other }, names: 'always', auth: { keys } });
    await using run = await running(config(ann, bob), revision, ann!.key);
    const as = (one: { key: string }) => connected(addressFor(run.url, one.key), { revision });
    await using gone = await as(bob!);
    const pid = await textOf(run.client, 'one__pid');
    await run.change(config(ann, carl), 'has changed: renewed auth.');
    await expect(gone.callTool('one__pid')).rejects.toThrow();
    await expect(as(bob!)).rejects.toThrow();
    await using come = await as(carl!);
    expect(await textOf(come, 'other__pid')).toMatch(/^\d+$/);
    expect(await textOf(run.client, 'one__pid')).toBe(pid);
    await run.change(config({ name: 'short', key: 'x' }), 'cannot be used');
    expect(await textOf(run.client, 'one__pid')).toBe(pid);
    await run.change({ servers: { one: shelf, other }, names: 'always' }, 'auth will take effect at the next start');
    await expect(as(bob!)).rejects.toThrow();
    expect(await run.end()).toBe(`one has waited in ${pid}`);
  });

  test('other ways to ask hold for the questions that follow', async () => {
    const config = (ask: object) => ({
      servers: { one: { ...shelf, tools: { approve: ['pid'] } }, other },
      names: 'always',
      ask,
    });
    await using run = await running(config({ channels: [], trust: ['stdio'] }), revision);
    const words = () => textOf(run.client, 'one__pid');
    expect(await words()).not.toContain('/ask');
    await run.change(config({ channels: ['page', 'relay'], trust: 'all' }), 'has changed: renewed ask.');
    expect(await words()).toContain('/ask');
    await run.change(config({ channels: [], trust: ['stdio'] }), 'has changed: renewed ask.');
    await until('the former ways to ask', async () => !(await words()).includes('/ask'));
    expect(await run.end()).toMatch(/^one has waited/);
  });

  test('what is recorded of calls changes between one call and the next', async () => {
    const config = (audit: unknown) => ({ servers: { one: shelf, other }, names: 'always', audit });
    await using run = await running(config(false), revision);
    const touch = (uri: string) => textOf(run.client, 'one__touch', { uri });
    await touch('note://unseen');
    await run.change(config({ arguments: 'values' }), 'has changed: renewed audit.');
    await touch('note://shown');
    run.home.write('parley.config.json', { ask: { channels: [] }, ...config(true) });
    await until('a shape', async () => {
      await touch('note://hidden');
      return (await run.home.run(['logs', '--json'])).stdout.includes('string(13)');
    });
    expect(await run.end()).toMatch(/^one has waited/);
    const { stdout } = await run.home.run(['logs', '--json']);
    expect(stdout).toContain('note://shown');
    expect(stdout).not.toContain('note://unseen');
    expect(stdout).not.toContain('one__wait');
    expect((await run.home.run(['audit', 'verify'])).status).toBe(0);
  });
});
