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

interface Running extends AsyncDisposable {
  gateway: Parley;
  client: Client;
  change(config: object, news: string): Promise<void>;
  named(): Promise<string[]>;
  /** The answer of the call that is under way since the start. */
  end(): Promise<string>;
}

/** A gateway, and a client with a call under way. */
async function running(config: object, revision: string): Promise<Running> {
  const home = new Home();
  const write = (next: object) => home.write('parley.config.json', { ask: { channels: [] }, ...next });
  write(config);
  const gateway = home.start(['serve', '--port', '0', '--open']);
  const client = await connected(await gateway.url(), { revision });
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
});
