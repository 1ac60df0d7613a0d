// The newcomer: eight servers from npm in the files of eleven clients. `parley connect` on a terminal, a call by an official SDK through what a client's file
// says now, `parley connect --undo`: two commands, and every file has its bytes again.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { MAIN } from '../../helpers/built.ts';
import { bytesOf, clientFiles, parleyEntry, writeFiles } from '../../helpers/client-homes.ts';
import type { EightServers, StdioServer } from '../../helpers/client-homes.ts';
import { ROOT } from '../../helpers/files.ts';
import { Home } from '../../helpers/parley.ts';
import { Terminal } from '../../helpers/terminal.ts';
import { hasTool } from '../../helpers/tools.ts';
import { until } from '../../helpers/until.ts';

const SECRETS = { github: 'ghp_0123456789abcdefghijklmnopqrstuvwxyz', notion: 'ntn_0123456789abcdefghijklmnop' };

function eightServers(folder: string): EightServers {
  const npm = (path: string): string => join(ROOT, 'tests', 'peers', 'node_modules', ...path.split('/'));
  const start = (path: string, ...args: string[]): StdioServer => ({
    command: process.execPath,
    args: [npm(path), ...args],
  });
  const official = (name: string, ...args: string[]): StdioServer =>
    start(`@modelcontextprotocol/server-${name}/dist/index.js`, ...args);
  return {
    everything: official('everything'),
    files: official('filesystem', folder),
    memory: { ...official('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } },
    thinking: official('sequential-thinking'),
    github: { ...official('github'), env: { GITHUB_PERSONAL_ACCESS_TOKEN: SECRETS.github } },
    notion: { ...start('@notionhq/notion-mcp-server/bin/cli.mjs'), env: { NOTION_TOKEN: SECRETS.notion } },
    playwright: start('@playwright/mcp/cli.js', '--headless'),
    context7: start('@upstash/context7-mcp/dist/index.js'),
  };
}

/** A tool of each server that runs on this machine alone, and a word of its answer. */
const CALLS: [tool: string, args: (folder: string) => Record<string, unknown>, answer: RegExp][] = [
  ['files__read_text_file', (folder) => ({ path: join(folder, 'note.txt') }), /bread and butter/],
  ['everything__echo', () => ({ message: 'hello' }), /hello/],
  ['memory__read_graph', () => ({}), /entities/],
  [
    'thinking__sequentialthinking',
    () => ({ thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
    /thoughtNumber/,
  ],
];

test.skipIf(!hasTool('script', 'bsdutils'))(
  'a newcomer connects eleven clients that have eight servers of npm, calls them through what a client starts, and takes it back: two commands, every file byte-equal',
  async () => {
    using home = new Home();
    const all = eightServers(home.path);
    const files = clientFiles(all);
    const names = Object.keys(files);
    writeFiles(home, files);
    writeFileSync(join(home.path, 'note.txt'), 'bread and butter');
    const before = bytesOf(home, names);
    // As for a desktop application: a short PATH, and nothing that a test trusts.
    const { PARLEY_TRUST: _, ...own } = (home.address([]) as { env: Record<string, string> }).env;
    const desktop = { ...own, PATH: '/usr/bin:/bin' };
    const parley = `${process.execPath} ${MAIN}`;
    const start = performance.now();

    await using terminal = new Terminal(`${parley} connect`, own, { columns: 200 });
    await terminal.sees('Change these files?');
    for (const secret of Object.values(SECRETS)) expect(terminal.all).not.toContain(secret);
    await terminal.types('y\r', 'To take it back');
    expect(await terminal.status()).toBe(0);
    expect(terminal.all.match(/starts Parley now/g)).toHaveLength(names.length);

    const [entry, ...others] = names.map((name) => parleyEntry(home, name));
    expect(others).toEqual(others.map(() => entry));
    await callAll(entry, { env: desktop, folder: home.path, owners: Object.keys(all) });

    await using undo = new Terminal(`${parley} connect --undo`, own);
    expect(await undo.status()).toBe(0);
    expect(bytesOf(home, names)).toEqual(before);
    const config = join(home.path, 'config', 'parley');
    expect(existsSync(config) ? readdirSync(config) : []).toEqual([]);
    console.log(`newcomer: 2 commands, ${((performance.now() - start) / 1000).toFixed(1)} s`);
  },
);

interface Desk {
  env: Record<string, string>;
  folder: string;
  owners: string[];
}

async function callAll({ command, args }: StdioServer, { env, folder, owners }: Desk): Promise<void> {
  const client = new Client({ name: 'newcomer', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, env, cwd: '/', stderr: 'ignore' }));
  try {
    await until(`the tools of ${owners.join(', ')}`, async () => {
      const { tools } = await client.listTools();
      const listed = new Set(tools.map(({ name }) => name.split('__')[0]));
      return owners.every((owner) => listed.has(owner));
    });
    for (const [name, of, answer] of CALLS) {
      const { content, isError = false } = await client.callTool({ name, arguments: of(folder) });
      expect([name, isError, JSON.stringify(content)]).toEqual([name, false, expect.stringMatching(answer)]);
    }
  } finally {
    await client.close();
  }
}
