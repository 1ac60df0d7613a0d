// What others could have written is not believed: files of the state folder, and the folder itself.
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from 'mcp-parley';
import { readKeyFile } from '../../src/mcp/listen/auth/api-keys.ts';
import { readPinFile } from '../../src/gateway/features/pins/pin-record.ts';
import { keysFrom } from '../../src/kernel/crypto/state-keys.ts';
import { MAIN } from '../helpers/built.ts';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';

const { newHome } = homesOfTests();
const silent = createLog({ level: 'silent' });
const isRoot = process.getuid?.() === 0;

test('a state folder that others can write is taken back, with a word', async () => {
  const home = newHome();
  const folder = join(home.path, 'state', 'parley');
  mkdirSync(folder, { recursive: true });
  home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
  for (const mode of [0o777, 0o770, 0o722]) {
    chmodSync(folder, mode);
    const { status, stderr } = await home.run(['ls']);
    expect(status).toBe(0);
    expect(stderr).toContain('now only you can');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  }
  expect((await home.run(['ls'])).stderr).not.toContain('only you');
});

test.runIf(isRoot)('a state folder of another user is not used', async () => {
  const home = newHome();
  const folder = join(home.path, 'state', 'parley');
  mkdirSync(folder, { recursive: true });
  chownSync(folder, 12_345, 12_345);
  home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
  chmodSync(home.path, 0o755);
  for (const words of [['ls'], ['serve', '--port', '0'], ['pair'], ['trust', '--yes'], ['key', 'ls']]) {
    const { status, stderr } = await runAs(65_534, home, words);
    expect([words, status]).toEqual([words, 1]);
    expect(stderr).toContain('belongs to another user');
  }
  const asRoot = await home.run(['serve', '--port', '0']);
  expect([asRoot.status, asRoot.stderr]).toEqual([1, expect.stringContaining('belongs to another user')]);
  expect(readdirSync(folder)).toEqual([]);
});

test.runIf(isRoot)('root says so if the owner of the state folder cannot reach it, and uses nothing', async () => {
  const home = newHome();
  const folder = join(home.path, 'state', 'parley');
  mkdirSync(folder, { recursive: true });
  chownSync(folder, 12_345, 12_345);
  for (const words of [['ls'], ['pair'], ['trust', '--yes'], ['key', 'ls']]) {
    const { status, stderr } = await home.run(words);
    expect([words, status]).toEqual([words, 1]);
    expect(stderr).toContain('cannot be reached (EACCES)');
    expect(stderr).not.toContain('    at ');
  }
  expect(readdirSync(folder)).toEqual([]);
});

/** As a user who is not the owner of anything here. */
async function runAs(uid: number, home: Home, words: string[]): Promise<{ status: number | null; stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd: home.path,
    env: { PATH: process.env.PATH, HOME: home.path, XDG_STATE_HOME: join(home.path, 'state') },
    uid,
    gid: uid,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, stderr };
}

const PAIRED = JSON.stringify({
  browsers: [{ name: 'evil', hash: `sha256:${'0'.repeat(64)}`, gateway: 'x', created: '2026-01-01T00:00:00.000Z' }],
  invitations: [],
});

const SPOILT: [string, (path: string) => void][] = [
  ['others can write', (path) => chmodSync(path, 0o666)],
  ['a group can write', (path) => chmodSync(path, 0o660)],
];
if (isRoot) SPOILT.push(['belongs to another user', (path) => chownSync(path, 12_345, 12_345)]);

test.each(SPOILT)('a file of pairings that %s is not believed', async (_, spoil) => {
  const home = newHome();
  mkdirSync(join(home.path, 'state', 'parley'), { recursive: true, mode: 0o700 });
  const path = join(home.path, 'state', 'parley', 'pairings.json');
  writeFileSync(path, PAIRED, { mode: 0o600 });
  expect((await home.run(['pair', 'ls'])).stdout).toContain('evil');
  spoil(path);
  const { status, stdout, stderr } = await home.run(['pair', 'ls']);
  expect(status).toBe(1);
  expect(stdout).not.toContain('evil');
  expect(stderr).toContain('can be written by others');
});

test.each<[string, (path: string) => unknown, string]>([
  ['API keys', readKeyFile, JSON.stringify({ keys: [{ name: 'evil', hash: `sha256:${'0'.repeat(64)}` }] })],
  ['pins', readPinFile, '{}'],
  ['sealing keys', (path) => keysFrom({ stateFolder: dirname(path) }, silent), 'a key that everybody has written'],
])('%s that others can write are not believed', (name, read, text) => {
  const home = newHome();
  const path = join(home.path, 'keys');
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o666);
  if (name === 'sealing keys') expect(read(path)).toBeUndefined();
  else expect(() => read(path)).toThrow('can be written by others');
});
