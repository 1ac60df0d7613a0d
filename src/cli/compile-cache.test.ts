import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepCompiledCode } from './compile-cache.ts';

let home: string;
let folders: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'parley-cache-'));
  folders = [];
});
afterEach(() => rmSync(home, { recursive: true }));

interface Where {
  node?: string;
  platform?: NodeJS.Platform;
}

function keep(env: NodeJS.ProcessEnv, { node = '22.20.0', platform = 'linux' }: Where = {}): void {
  const versions = { ...process.versions, node };
  const getBuiltinModule = (() => ({
    enableCompileCache: (folder: string) => folders.push(folder),
  })) as unknown as typeof process.getBuiltinModule;
  keepCompiledCode({ versions, env, platform, getBuiltinModule });
}

it('the code cache lies in a folder that only its user can open', () => {
  keep({ HOME: home });
  const folder = join(home, '.cache', 'parley', 'compiled');
  expect(folders).toEqual([folder]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it.each([
  ['XDG_CACHE_HOME on Linux', 'linux', 'XDG_CACHE_HOME', ['parley', 'compiled']],
  ['the home folder on macOS', 'darwin', 'HOME', ['Library', 'Caches', 'parley']],
  ['LOCALAPPDATA on Windows', 'win32', 'LOCALAPPDATA', ['parley', 'compiled']],
] as const)('the code cache lies in %s', (_, platform, name, path) => {
  keep({ [name]: home }, { platform });
  expect(folders).toEqual([join(home, ...path)]);
});

it('no code cache is used by Node 20, without a home, or where Node was told what to do', () => {
  keep({ HOME: home }, { node: '20.20.0' });
  keep({});
  keep({ XDG_CACHE_HOME: 'relative' });
  keep({ HOME: home, NODE_COMPILE_CACHE: join(home, 'other') });
  keep({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(folders).toEqual([]);
});

it('a home that cannot be written costs only the code cache', () => {
  const file = join(home, 'file');
  writeFileSync(file, '');
  keep({ HOME: file });
  expect(folders).toEqual([]);
});
