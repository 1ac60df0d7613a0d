import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findConfig } from './find-config.ts';
import { userFolder } from '../../kernel/secrets/own-folders.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-find-'));
afterAll(() => rmSync(root, { recursive: true }));
const around = { env: {}, cwd: join(root, 'here'), home: join(root, 'home'), platform: 'linux' as const };

function put(...parts: string[]): string {
  const path = join(root, ...parts);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{}');
  return path;
}

describe('the configuration', () => {
  it('is the file that was named, or none', () => {
    const named = put('here', 'own', 'servers.json');
    expect(findConfig('own/servers.json', around).path).toBe(named);
    expect(findConfig('own/missing.json', around)).toEqual({
      path: undefined,
      searched: [join(around.cwd, 'own', 'missing.json')],
    });
  });

  it('is in the folder that was named', () => {
    const inside = put('here', 'folder', 'parley.config.yaml');
    expect(findConfig('folder', around).path).toBe(inside);
  });

  it('is searched here, then in the folder of the user; .jsonc before .json before .yaml before .yml', () => {
    expect(findConfig(undefined, around).path).toBeUndefined();
    expect(findConfig(undefined, around).searched).toHaveLength(8);
    for (const parts of [
      ['home', '.config', 'parley', 'parley.config.yml'],
      ['home', '.config', 'parley', 'parley.config.json'],
      ['here', 'parley.config.yaml'],
      ['here', 'parley.config.jsonc'],
    ]) {
      const path = put(...parts);
      expect(findConfig(undefined, around).path).toBe(path);
    }
  });
});

describe('the folder of the user', () => {
  it('is where the system wants it', () => {
    expect(userFolder({ ...around, env: { XDG_CONFIG_HOME: '/xdg' } })).toBe('/xdg/parley');
    expect(userFolder({ ...around, env: { XDG_CONFIG_HOME: 'relative' } })).toBe(join(root, 'home/.config/parley'));
    const windows = { env: { APPDATA: 'C:\\Data' }, cwd: 'C:\\', home: 'C:\\Me', platform: 'win32' as const };
    expect(userFolder(windows)).toBe('C:\\Data\\parley');
    expect(userFolder({ ...windows, env: {} })).toBe('C:\\Me\\AppData\\Roaming\\parley');
  });
});
