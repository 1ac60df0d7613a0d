import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../read/load-config.ts';
import { watchConfig } from './watch-config.ts';
import type { ConfigChange, ConfigWatch, WatchOptions } from './watch-config.ts';
import type { ConfigProblem } from '../check/config-problems.ts';

let root: string;
let watch: ConfigWatch;
let changes: ConfigChange[];
let problems: ConfigProblem[][];
const file = () => join(root, 'parley.config.json');

function write(value: unknown, path = file()): void {
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
}

function start(options: Partial<WatchOptions> = {}): void {
  const around = { env: {}, cwd: root, home: root };
  watch = watchConfig(loadConfig(undefined, around), {
    ...around,
    onChange: (change) => void changes.push(change),
    onProblems: (found) => void problems.push(found),
    intervalMs: 20,
    ...options,
  });
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-reload-'));
  [changes, problems] = [[], []];
  write({ mcpServers: { a: { command: 'a' }, b: { command: 'b' } } });
});
afterEach(() => {
  watch.close();
  rmSync(root, { recursive: true });
});

describe('a watched configuration', () => {
  it('tells, by itself, what has changed', async () => {
    start();
    write({ mcpServers: { a: { command: 'a' }, b: { command: 'B' }, c: 'https://e.com' } });
    await vi.waitFor(() => expect(changes).toHaveLength(1), { timeout: 50_000 });
    expect(changes[0]!.difference).toMatchObject({ added: ['c'], changed: ['b'], unchanged: ['a'], removed: [] });
    expect(watch.current.config).toBe(changes[0]!.next);
  });

  it('stays as it was when the new one is bad, and takes the next good one', async () => {
    start();
    const { config } = watch.current;
    write('{ "mcpServers": { "a": { "comand": "a" } } }');
    await watch.check();
    expect(problems.flat().map(({ path }) => path)).toContain('mcpServers.a.comand');
    expect(watch.current.config).toBe(config);
    await watch.check();
    expect(problems).toHaveLength(1);
    write({ mcpServers: { a: { command: 'a' } } });
    await watch.check();
    expect(changes[0]!.difference.removed).toEqual(['b']);
  });

  it('stays when its file goes away, and sees one that is put in its place', async () => {
    start();
    rmSync(file());
    await watch.check();
    expect(problems.flat()[0]?.message).toContain('is not there');
    write({ mcpServers: { z: { command: 'z' } } }, `${file()}.new`);
    renameSync(`${file()}.new`, file());
    await watch.check();
    expect(changes[0]!.difference.added).toEqual(['z']);
  });

  it('does not take a file that is half written for a bad one', async () => {
    start();
    write('');
    const checked = watch.check();
    write({ mcpServers: { c: { command: 'c' } } });
    await checked;
    expect(problems).toEqual([]);
    expect(changes).toHaveLength(1);
  });

  it('says nothing of changes that change nothing', async () => {
    start();
    write('{ "mcpServers": { "a": { "command": "a" }, // first\n "b": { "command": "b", "args": [] } } }');
    await watch.check();
    expect([changes, problems]).toEqual([[], []]);
  });

  it('follows the order of servers: it decides who keeps a name', async () => {
    start();
    write({ mcpServers: { b: { command: 'b' }, a: { command: 'a' } } });
    await watch.check();
    expect(changes).toHaveLength(1);
  });

  it('sees files of variables', async () => {
    write('A=1', join(root, 'vars'));
    write({ mcpServers: { a: { command: 'a', envFile: 'vars' }, b: { command: 'b' } } });
    start();
    write('A=2', join(root, 'vars'));
    await watch.check();
    expect(changes[0]!.difference).toMatchObject({ changed: ['a'], unchanged: ['b'] });
  });

  it('stays as it was when the new one cannot be applied', async () => {
    start({ onChange: () => Promise.reject(new Error('no such step')) });
    const { config } = watch.current;
    write({ mcpServers: {} });
    await watch.check();
    expect(problems.flat()[0]?.message).toBe('cannot be applied: no such step');
    expect(watch.current.config).toBe(config);
  });

  it('a look that fails is reported, and the next one takes what is there then', async () => {
    let fails = 1;
    start({
      onProblems(found) {
        if (fails-- > 0) throw new Error('the terminal is gone');
        problems.push(found);
      },
    });
    write('{ bad');
    await watch.check();
    expect(problems.flat()[0]?.message).toBe('cannot be applied: the terminal is gone');
    write({ mcpServers: {} });
    await watch.check();
    expect(changes).toHaveLength(1);
  });

  it('is silent once it is closed', async () => {
    start();
    watch.close();
    write({ mcpServers: {} });
    await watch.check();
    expect(changes).toEqual([]);
  });
});
