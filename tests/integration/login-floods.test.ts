// Floods by people who are not logged in: they cost little, and others log in and stay logged in.
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FrontAdapter, createFrontStore } from '../../src/mcp/listen/auth/front/front-store.ts';
import { createTestIssuer, json } from '../../src/mcp/listen/auth/issuer.contract.ts';
import { createSealer } from '../../src/kernel/crypto/seal.ts';
import { systemClock } from '../../src/kernel/base/clock.ts';
import { authorizeLink, Browser, byCode, exchange, REDIRECT, register, startFront } from '../helpers/front-setup.ts';
import { send } from '../helpers/http-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { serving, well } from '../helpers/moody.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

test('an address can register so many clients, and others register all the same', async () => {
  await using setup = await startFront();
  const registerFrom = (from: string) =>
    send(`${setup.front}/reg`, { body: { redirect_uris: ['http://127.0.0.1/cb'], client_name: 'x' }, from });
  const flood = [];
  for (let n = 0; n < 22; n++) flood.push(await registerFrom('127.0.0.2'));
  expect(flood.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 201), 429, 429]);
  expect(Number(flood[20]!.headers['retry-after'])).toBeGreaterThan(60);
  expect((await registerFrom('127.0.0.3')).status).toBe(201);
});

test('a network registers a part of what all can, all together are bounded, and clients that are there continue', async () => {
  await using setup = await startFront();
  const known = await register(setup.front);
  const from = async (address: string) =>
    (await send(`${setup.front}/reg`, { body: { redirect_uris: ['http://127.0.0.1/cb'] }, from: address })).status;
  const flood = async (network: string) => {
    const hosts = Array.from({ length: 7 * 20 }, (_, n) => from(`127.${network}.${1 + (n % 7)}`));
    return (await Promise.all(hosts)).filter((status) => status === 201).length;
  };
  // One who has a whole network.
  const own = await flood('1.1');
  expect([own >= 100, own < 120]).toEqual([true, true]);
  expect(await from('127.2.2.1')).toBe(201);
  // Many who have one each.
  let all = own;
  for (let n = 2; n < 13; n++) all += await flood(`1.${n}`);
  expect([all > 900, all < 1100]).toEqual([true, true]);
  const late = await Promise.all(Array.from({ length: 20 }, (_, n) => from(`127.3.${n}.1`)));
  expect(late).toContain(429);
  // A client that is there logs in, and stays logged in.
  const browser = new Browser();
  const asked = await browser.open(await authorizeLink(setup.front, String(known.client_id)));
  const back = await browser.decide(asked, 'allow', REDIRECT);
  const { body } = await exchange(setup.front, byCode(String(known.client_id), back.url));
  expect(body['access_token']).toEqual(expect.any(String));
});

describe.each(['memory', 'a folder'])('what an authorization server keeps in %s', (place) => {
  test('is not pushed out by clients that strangers register, nor by their visits', async () => {
    const folder = place === 'memory' ? undefined : mkdtempSync(join(tmpdir(), 'parley-front-'));
    try {
      const store = createFrontStore(folder, createSealer(['k'.repeat(40)]), 10);
      const kept = ['RefreshToken:ann', 'Grant:ann', 'Account:ann', 'RefreshToken of grant:ann'];
      for (const name of kept) await store.write(name, { value: { name } });
      const [clients, grants] = ['Client', 'Grant'].map((kind) => new FrontAdapter(kind, store, systemClock));
      for (const id of ['agreed', 'unknown']) await clients!.upsert(id, { client_id: id });
      await grants!.upsert('one', { clientId: 'agreed', accountId: 'ann' });
      await grants!.upsert('two', { clientId: 'of the configuration', accountId: 'ann' });
      for (let n = 0; n < 260; n++) {
        await store.write(`Client:${n}`, { value: {} });
        await store.write(`Interaction:${n}`, { value: {} });
      }
      for (const name of kept) expect(await store.read(name)).toBeDefined();
      expect(await store.read('Client:0')).toBeUndefined();
      // Nor is a client that somebody has agreed to, until it is removed.
      expect(await clients!.find('agreed')).toEqual({ client_id: 'agreed' });
      expect(await clients!.find('unknown')).toBeUndefined();
      expect(await clients!.find('of the configuration')).toBeUndefined();
      await clients!.destroy('agreed');
      expect(await clients!.find('agreed')).toBeUndefined();
      if (folder) expect(readdirSync(folder).length).toBeLessThan(100);
    } finally {
      if (folder) removeFolder(folder);
    }
  });
});

test('an address that sends bad tokens soon costs its issuer nothing more, while keys, known tokens and others continue', async () => {
  const issuer = await createTestIssuer();
  let asked = 0;
  const key = { name: 'ann', key: `ann-${'k'.repeat(40)}` };
  const introspection = { clientId: 'gw', clientSecret: 'secret of gw', cacheMs: 60_000 };
  const auth = { keys: [key], issuers: [{ issuer: issuer.url, introspection }] };
  await using gateway = await serving({ servers: { one: well('one') }, startMs: 60_000, auth });
  issuer.answers.set('/introspect', (request, response) => {
    asked++;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const exp = Math.floor(Date.now() / 1000) + 600;
      const isGood = new URLSearchParams(body).get('token')!.startsWith('good');
      json(response, isGood ? { active: true, sub: 'bob', exp, aud: gateway.url } : { active: false });
    });
  });
  try {
    const call = async (token: string, from = '127.0.0.2') => {
      const request = modern('tools/call', { name: 'one__one_echo', arguments: { text: 'x' } });
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      return (await send(gateway.url, { ...request, headers, from })).status;
    };
    expect(await call('good one')).toBe(401); // not the form of a token
    expect(await call('good-one')).toBe(200);
    const answers = [];
    for (let n = 0; n < 100; n++) answers.push(await call(`bad-${n}`));
    expect(answers.filter((status) => status === 401).length).toBeGreaterThanOrEqual(60);
    expect(answers.at(-1)).toBe(429);
    expect(asked).toBeLessThan(90);
    expect([await call('good-one'), await call(key.key), await call('good-two', '127.0.0.3')]).toEqual([200, 200, 200]);
  } finally {
    issuer.close();
  }
});
