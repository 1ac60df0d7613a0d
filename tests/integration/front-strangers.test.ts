// What people who are not logged in can do to the authorization server in front: fill it, and send browsers somewhere.
import { mkdtempSync, readdirSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFrontStore } from '../../src/mcp/listen/auth/front/front-store.ts';
import { OpenVisits } from '../../src/mcp/listen/auth/front/stranger-limits.ts';
import { createSealer } from '../../src/kernel/crypto/seal.ts';
import { Browser, REDIRECT, authorizeLink, register, startFront } from '../helpers/front-setup.ts';
import { send } from '../helpers/http-wire.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

test('an address begins many logins, and only the last ones are kept; others finish theirs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-front-'));
  try {
    await using setup = await startFront({ front: { folder } });
    const { front } = setup;
    const link = await authorizeLink(front, String((await register(front)).client_id));
    const honest = new Browser();
    const page = await honest.open(link);
    const before = readdirSync(folder).length;
    for (let n = 0; n < 130; n++) expect((await send(link, { method: 'GET', from: '127.0.0.2' })).status).toBe(303);
    expect(readdirSync(folder).length - before).toBe(100);
    expect((await honest.decide(page, 'allow', REDIRECT)).url).toContain('code=');
  } finally {
    removeFolder(folder);
  }
});

test('when all together are too many, the address with most of them loses its oldest', () => {
  const visits = new OpenVisits({ perAddress: 5, all: 8 });
  for (let n = 0; n < 4; n++) expect(visits.begin('many', `m${n}`)).toBeUndefined();
  for (let n = 0; n < 4; n++) expect(visits.begin(`one ${n}`, `o${n}`)).toBeUndefined();
  expect([visits.begin('new', 'n'), visits.begin('many', 'm4'), visits.begin('other', 'x')]).toEqual([
    'm0',
    'm1',
    'm2',
  ]);
});

test('files of logins that are over are removed, and no others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-front-'));
  try {
    const open = () => createFrontStore(folder, createSealer(['k'.repeat(40)]));
    for (const name of ['Interaction:a', 'Attempt:a', 'Session:a', 'RefreshToken:a'])
      await open().write(name, { value: { name } });
    const old = new Date(Date.now() - 20 * 60_000);
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), old, old);
    const store = open();
    await store.write('Interaction:b', { value: {} });
    const left = ['Interaction:a', 'Attempt:a', 'Session:a', 'RefreshToken:a', 'Interaction:b'];
    const found = await Promise.all(left.map(async (name) => (await store.read(name)) !== undefined));
    expect(found).toEqual([false, false, true, true, true]);
    expect(readdirSync(folder)).toHaveLength(3);
  } finally {
    removeFolder(folder);
  }
});

test('long parameters, forms and pushed requests begin no login', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-front-'));
  try {
    await using setup = await startFront({ front: { folder } });
    const { front } = setup;
    const id = String((await register(front)).client_id);
    const before = readdirSync(folder).length;
    const long = await authorizeLink(front, id, { state: 'x'.repeat(3000) });
    const many = await authorizeLink(front, id, Object.fromEntries('abcdef'.split('').map((k) => [k, k.repeat(2000)])));
    const form = new URL(await authorizeLink(front, id)).searchParams.toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const statuses = [
      (await send(long, { method: 'GET' })).status,
      (await send(many, { method: 'GET' })).status,
      (await send(`${front}/auth`, { headers, body: form })).status,
      (await send(await authorizeLink(front, id), { method: 'HEAD' })).status,
      (await send(`${front}/request`, { headers, body: form })).status,
    ];
    expect(statuses).toEqual([400, 400, 400, 400, 404]);
    expect(readdirSync(folder).length).toBe(before);
    expect((await send(await authorizeLink(front, id, { state: 'x'.repeat(2000) }), { method: 'GET' })).status).toBe(
      303,
    );
  } finally {
    removeFolder(folder);
  }
});

test('a browser is sent back to web pages, this machine and apps: not to programs of the system, nor to the gateway', async () => {
  await using setup = await startFront();
  const { front } = setup;
  const base = new URL(front).origin;
  const bad = [
    'ms-msdt:/id',
    'smb://evil.example/x',
    'view-source:https://x.example',
    'intent://x#Intent;end',
    'file:///etc/passwd',
  ];
  for (const redirect of [...bad, 'search-ms:query=x', 'http://evil.example/cb', `${base}/mcp`, `${front}/callback`])
    expect([redirect, (await register(front, { redirect_uris: [redirect] })).status]).toEqual([redirect, 400]);
  const good = [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://x.y/cb',
    'com.example.app:/cb',
    'https://app.example/cb',
  ];
  for (const redirect of good)
    expect([redirect, (await register(front, { redirect_uris: [redirect] })).status]).toEqual([redirect, 201]);
  // A redirect on this machine counts for every port.
  const id = String((await register(front, { redirect_uris: ['http://127.0.0.1/mcp'] })).client_id);
  const own = await send(await authorizeLink(front, id, { redirect_uri: `${base}/mcp` }), { method: 'GET' });
  expect([own.status, own.headers.location]).toEqual([400, undefined]);
});

test('no error sends a browser to a client to which nobody has agreed', async () => {
  await using setup = await startFront();
  const { front } = setup;
  const redirect_uri = 'https://evil.example/back';
  const id = String((await register(front, { redirect_uris: [redirect_uri] })).client_id);
  const cases: Record<string, string>[] = [
    { prompt: 'none' },
    { code_challenge: '', code_challenge_method: '' },
    { resource: 'https://other.example/mcp' },
    { response_type: 'token' },
    { max_age: 'x' },
  ];
  for (const more of cases) {
    const answer = await send(await authorizeLink(front, id, { redirect_uri, ...more }), { method: 'GET' });
    expect([more, answer.status, answer.headers.location]).toEqual([more, 400, undefined]);
    expect(answer.text).toContain('This link does not work');
    expect(answer.text).not.toContain('evil');
  }
});
