// Several files as one configuration.
import { describe, expect, it } from 'vitest';
import type { LoadedConfig, LoadOptions } from './load-config.ts';
import { loadSeveral } from './load-several.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-several-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function load(files: Record<string, unknown>, options: Partial<LoadOptions> = {}): LoadedConfig {
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value, undefined, 2));
  const paths = Object.keys(files).map((name) => join(folder, name));
  return loadSeveral(paths, { env: { TOKEN: 's3cret' }, cwd: folder, home: folder, ...options });
}

const told = ({ problems }: LoadedConfig): string[] =>
  problems
    .filter(({ level }) => level === 'error')
    .map(({ file, line, message }) => `${file!.slice(folder.length + 1)}:${line}: ${message.replaceAll(folder, '')}`);
const serversOf = ({ config }: LoadedConfig): string[] => Object.keys(config?.servers ?? {});
const A = { command: 'a' };
const B = { command: 'b' };

describe('several configuration files', () => {
  it('several configuration files bring their servers, and the first one the settings', () => {
    const loaded = load({
      'parley.config.json': { mcpServers: { a: A }, listen: { port: 9000 }, share: 'all' },
      'cursor.json': { mcpServers: { b: B } },
      'config.toml': '[mcp_servers.c]\nurl = "https://c.example/mcp"\n',
    });
    expect(told(loaded)).toEqual([]);
    expect(serversOf(loaded)).toEqual(['a', 'b', 'c']);
    expect(loaded.config).toMatchObject({ listen: { port: 9000 }, servers: { b: { share: 'all' } } });
    expect(loaded.files.map((file) => file.slice(folder.length + 1))).toEqual([
      'parley.config.json',
      'cursor.json',
      'config.toml',
    ]);
  });

  it('the same server in several files is served once, however the files call its block', () => {
    const loaded = load({
      'one.json': { mcpServers: { a: A } },
      'two.json': { servers: { a: { type: 'stdio', ...A }, b: B } },
    });
    expect([told(loaded), serversOf(loaded)]).toEqual([[], ['a', 'b']]);
  });

  it('two servers of one name are refused, with both files and the line', () => {
    const loaded = load({ 'one.json': { mcpServers: { a: A } }, 'two.json': { mcpServers: { b: B, a: B } } });
    expect(loaded.config).toBeUndefined();
    expect(told(loaded)).toEqual(['two.json:6: /one.json has a server "a", too, and it is another one']);
  });

  it('a server that is switched off is not there, so another file may bring it', () => {
    const off = { ...B, disabled: true };
    const loaded = load({ 'one.json': { mcpServers: { a: off, c: A } }, 'two.json': { mcpServers: { a: A, c: off } } });
    expect(told(loaded)).toEqual([]);
    expect(loaded.config?.servers).toMatchObject({
      a: { command: 'a', disabled: false },
      c: { command: 'a', disabled: false },
    });
  });

  it('settings in a further file are refused, as they would not hold', () => {
    const loaded = load({
      'one.json': { mcpServers: { a: A } },
      'two.json': { mcpServers: { b: B }, steps: ['log'] },
    });
    expect(told(loaded)).toContain('two.json:7: only the first file may have settings');
    expect(loaded.config).toBeUndefined();
  });

  it('a server may not have the name of a group of the first file', () => {
    const first = { mcpServers: { a: A }, groups: { b: ['a'] } };
    const loaded = load({ 'one.json': first, 'two.json': { mcpServers: { b: B } } });
    expect(told(loaded)).toEqual(['two.json:3: a group of /one.json is called "b", too']);
  });

  it('the first file may have settings alone, and if no file has a server, that is said', () => {
    const files = { 'parley.config.json': { mcpServers: {}, listen: 9000 }, 'two.json': { mcpServers: { b: B } } };
    expect(load(files).problems.map(({ message }) => message)).toEqual([]);
    const none = load({ ...files, 'two.json': { mcpServers: {} } });
    expect(none.problems.map(({ message }) => message)).toEqual(['there is no server to serve']);
  });

  it('paths start at the folder of each file, variables are known for all, and a file that is named twice counts once', () => {
    const two = { mcpServers: { b: { ...B, cwd: 'sub', env: { KEY: '${TOKEN}' } } } };
    const loaded = load({ 'one.json': { mcpServers: { a: A } }, 'two.json': two });
    expect(loaded.config?.servers['b']).toMatchObject({ cwd: join(folder, 'sub') });
    expect([...loaded.used.keys()]).toEqual(['s3cret']);
    const one = join(folder, 'one.json');
    expect(loadSeveral([one, one], { env: {}, cwd: folder, home: folder }).parts).toBeUndefined();
  });

  it('a file that is not there or is broken is an error, whichever it is', () => {
    const missing = loadSeveral([join(folder, 'x.json'), join(folder, 'y.json')], {
      env: {},
      cwd: folder,
      home: folder,
    });
    expect(told(missing)).toEqual([expect.stringContaining('x.json'), expect.stringContaining('y.json')]);
    const broken = load({ 'one.json': { mcpServers: { a: A } }, 'two.json': '{ "mcpServers": ' });
    expect(broken.config).toBeUndefined();
    expect(told(broken)[0]).toMatch(/^two\.json:1: /);
  });
});
