import { mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { createLeaseHolder, identifyProcess } from '../../../kernel/files/lease-holder.ts';
import { createFileLogins } from './file-logins.ts';
import type { LoginRecord, LoginStore } from './login-store.ts';

const KEY = 'https://example.com/mcp';
const record = (version: number, access = 'secret-access-token'): LoginRecord => ({
  version,
  server: KEY,
  issuer: 'https://as.example.com',
  client: { id: 'client', kind: 'registered' },
  tokens: { access, type: 'bearer', refresh: 'secret-refresh-token', issuedAt: 0 },
  authority: { issuer: 'https://as.example.com' },
});

let folder: string;
const open = (key = 'one key of the folder'): LoginStore =>
  createFileLogins({ folder, sealer: createSealer([key]), waitMs: 200 });

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'parley-logins-')), 'logins');
});

it('keeps a login for the next process, in a file that only its owner can read', async () => {
  expect(await open().write(KEY, record(1), 0)).toBe(true);
  expect(open().has(KEY)).toBe(true);
  expect(await open().read(KEY)).toEqual(record(1));
  expect(await open().keys()).toEqual([KEY]);
  const [name] = readdirSync(folder);
  expect(statSync(join(folder, name!)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it('writes no token and no name of a server in plain text', async () => {
  await open().write(KEY, record(1), 0);
  const text = readdirSync(folder)
    .map((name) => name + readFileSync(join(folder, name), 'latin1'))
    .join('\n');
  expect(text).not.toMatch(/secret|example/);
});

it('reads nothing with another key, and nothing that was altered', async () => {
  await open().write(KEY, record(1), 0);
  expect(await open('another key, just as long').read(KEY)).toBeUndefined();
  const path = join(folder, readdirSync(folder)[0]!);
  const sealed = readFileSync(path, 'utf8');
  // Not the last character: it has bits that stand for nothing.
  writeFileSync(path, `${sealed.slice(0, -9)}${sealed.at(-9) === 'A' ? 'B' : 'A'}${sealed.slice(-8)}`);
  expect(await open().read(KEY)).toBeUndefined();
});

it('replaces only the version that the writer has read', async () => {
  const store = open();
  await store.write(KEY, record(1), 0);
  expect(await store.write(KEY, record(1, 'late'), 0)).toBe(false);
  expect(await store.write(KEY, record(2, 'next'), 1)).toBe(true);
  expect((await store.read(KEY))?.tokens?.access).toBe('next');
});

it('lets one of many writers win', async () => {
  const store = createFileLogins({ folder, sealer: createSealer(['one key of the folder']) });
  const won = await Promise.all(Array.from({ length: 20 }, (_, n) => store.write(KEY, record(1, String(n)), 0)));
  expect(won.filter(Boolean)).toHaveLength(1);
});

it('runs work on one login one after the other', async () => {
  let running = 0;
  const work = async (): Promise<number> => {
    running++;
    await new Promise((resolve) => setImmediate(resolve));
    return running--;
  };
  const store = createFileLogins({ folder, sealer: createSealer(['one key of the folder']) });
  expect(await Promise.all(Array.from({ length: 10 }, () => store.exclusively(KEY, work)))).toEqual(
    Array.from({ length: 10 }, () => 1),
  );
});

it('does not do the work while another process holds the login', async () => {
  await open().exclusively(KEY, async () => {
    let isDone = false;
    const work = open().exclusively(KEY, async () => (isDone = true));
    await expect(work).rejects.toMatchObject({ code: 'UPSTREAM_LOGIN_FAILED' });
    expect(isDone).toBe(false);
  });
});

it('takes over the lock of a process that has died', async () => {
  const store = open();
  await store.write(KEY, record(1), 0);
  const [name] = readdirSync(folder);
  const dead = createLeaseHolder({ ...identifyProcess()!, pid: 2147483646 }).marked('dead');
  symlinkSync(dead, join(folder, `${name}.lock`));
  expect(await store.exclusively(KEY, async () => 'done')).toBe('done');
});
