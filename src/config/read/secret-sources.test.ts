import { mkdirSync, mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import type { LoadedConfig } from './load-config.ts';
import { toWords } from './interpolate.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
  mkdirSync(join(home, '.config', 'parley'), { recursive: true });
  writeFileSync(join(home, 'token'), 'from a file\n');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function load(value: string, { isOwn = true, runsCommands = true } = {}): LoadedConfig {
  const path = join(isOwn ? join(home, '.config', 'parley') : home, 'parley.config.json');
  const servers = { far: { url: 'https://mcp.example.com/mcp', headers: { 'X-Key': value } } };
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
  return loadConfig(path, { env: { PATH: process.env['PATH'] }, cwd: home, home, platform: 'linux', runsCommands });
}

function keyOf({ config }: LoadedConfig): unknown {
  const { far } = config?.servers ?? {};
  return far && 'headers' in far ? far.headers['X-Key'] : undefined;
}

function problemOf({ problems }: LoadedConfig): string {
  return problems.map(({ message }) => message).join('; ');
}

describe('${file:…}', () => {
  test('is the content of the file, which is printed as a reference', () => {
    const loaded = load('${file:~/token}');
    expect(keyOf(loaded)).toBe('from a file');
    expect(loaded.used.get('from a file')).toBe('${file:~/token}');
    expect(keyOf(load('Bearer ${file:../../token}'))).toBe('Bearer from a file');
  });

  test('is a problem if the file cannot be read', () => {
    expect(problemOf(load('${file:~/missing}'))).toContain('the file ~/missing cannot be read (ENOENT)');
  });
});

describe('${cmd:…}', () => {
  const printing = `\${cmd:"${process.execPath}" -e "console.log(process.argv[1])" "$HOME; two words"}`;

  test('is the output of the command, started without a shell', () => {
    const loaded = load(printing);
    expect(keyOf(loaded)).toBe('$HOME; two words');
    expect([...loaded.used.values()][0]).toMatch(/^\$\{cmd:/);
  });

  test("is refused in a file that is not the user's own", () => {
    const marker = join(home, 'ran');
    const touching = `\${cmd:"${process.execPath}" -e "require('fs').writeFileSync('${marker}', '')"}`;
    expect(problemOf(load(touching, { isOwn: false }))).toContain('${cmd:…} is allowed in');
    expect(existsSync(marker)).toBe(false);
    load(touching, { runsCommands: false }); // as `parley check` does
    expect(existsSync(marker)).toBe(false);
  });

  test('is unknown to `check`, and no problem', () => {
    expect(load(printing, { runsCommands: false }).problems).toEqual([]);
  });

  test('is a problem if it fails, without what it printed', () => {
    const failing = `\${cmd:"${process.execPath}" -e "console.log('secret'); process.exit(3)"}`;
    expect(problemOf(load(failing))).toMatch(/^the command \S+ failed \(exit code 3\)$/);
    expect(problemOf(load('${cmd:no-such-program-here}'))).toContain('no-such-program-here failed (ENOENT)');
  });
});

test('the token of a client cannot be put into the headers of a server', () => {
  expect(problemOf(load('${client:token}'))).toBe('the token of a client is never passed on to a server');
});

test('words are separated by spaces, and kept together by quotes', () => {
  expect(toWords(`op read "op://vault/my item/x" 'a b'c`)).toEqual(['op', 'read', 'op://vault/my item/x', 'a bc']);
});
