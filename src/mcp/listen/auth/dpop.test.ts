// Tokens that are bound to a key of their client (DPoP): what proves it, and what somebody who has stolen a token or a proof can do with it.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { send } from '../../../../tests/helpers/http-wire.ts';
import { socketWire } from '../../../../tests/helpers/line-wire.ts';
import { modern } from '../../../../tests/helpers/mcp-http.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { GatewayOptions } from '../../../gateway/gateway.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import type { State } from '../../../kernel/state/state.ts';
import { createTestIssuer } from './issuer.contract.ts';
import type { TestIssuer } from './issuer.contract.ts';

const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
let issuer: TestIssuer;
beforeEach(async () => {
  issuer = await createTestIssuer();
  closing.push(() => issuer.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving(auth: GatewayOptions['auth'] = {}, state?: State) {
  const server = createServer({ name: 'one', version: '1', log });
  let runs = 0;
  server.tool('echo', {}, () => `run ${++runs}`);
  const gateway = createGateway({ servers: { one: server }, log, auth: { issuers: [issuer.url], ...auth }, state });
  closing.push(() => gateway.close());
  const { url, port } = await gateway.listen({ port: 0 });
  return { url, port, runs: () => runs };
}

/** A client with a key of its own. */
async function createHolder(url: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const jkt = await calculateJwkThumbprint(jwk);
  const token = await issuer.token({ aud: url, cnf: { jkt } });
  let count = 0;
  const prove = (claims: Record<string, unknown> = {}, header: object = {}, key = privateKey) => {
    const all = {
      jti: `proof ${++count} ${jkt}`,
      htm: 'POST',
      htu: url,
      ath: createHash('sha256').update(token).digest('base64url'),
      iat: Math.floor(Date.now() / 1000),
      ...claims,
    };
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return new SignJWT(kept).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header }).sign(key);
  };
  const call = async (dpop: string | undefined, { scheme = 'DPoP', as = token, at = url } = {}) => {
    const request = modern('tools/call', { name: 'one__echo', arguments: {} });
    const headers = { ...request.headers, authorization: `${scheme} ${as}`, ...(dpop !== undefined && { dpop }) };
    return send(at, { ...request, headers });
  };
  return { token, jkt, jwk, privateKey, prove, call };
}

it('a token that is bound to a key counts with a proof of that key, on every transport', async () => {
  const { url, port, runs } = await serving();
  const { token, prove, call } = await createHolder(url);
  expect((await call(await prove())).status).toBe(200);
  expect((await call(await prove())).status).toBe(200);
  expect((await call(await prove({ htu: `${url}?a=b#c` }))).status).toBe(200);
  expect(runs()).toBe(3);
  const ws = url.replace('/mcp', '/ws');
  const dpop = await prove({ htm: 'GET', htu: ws.replace('http', 'ws') });
  const { wire } = await socketWire(port, { authorization: `DPoP ${token}`, dpop });
  await wire.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  });
  await wire.request('tools/call', { name: 'one__echo', arguments: {} });
  expect(runs()).toBe(4);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('the state is broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the state is broken'))],
])(
  'a state of the embedding program that %s lets nobody in, keeps its words, and the gateway goes on',
  async (_, take) => {
    const { url, runs } = await serving(
      {},
      Object.assign(new MemoryState(systemClock), { take, close: () => Promise.reject(new Error('not closed')) }),
    );
    const { prove, call } = await createHolder(url);
    for (let tries = 0; tries < 2; tries++) {
      const { status, json } = await call(await prove());
      expect(status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(json)).not.toContain('broken');
    }
    expect(runs()).toBe(0);
  },
);

it('a stolen token is worth nothing without the key', async () => {
  const { url, runs } = await serving();
  const { token, prove, call } = await createHolder(url);
  const thief = await createHolder(url);
  const now = Math.floor(Date.now() / 1000);
  const good = await prove();
  const cases: [string, string | undefined, { scheme?: string; as?: string; at?: string }?][] = [
    ['as a bearer token', undefined, { scheme: 'Bearer' }],
    ['as a bearer token, with a proof', good, { scheme: 'Bearer' }],
    ['without a proof', undefined],
    ['with a proof of another key', await thief.prove({ ath: hashed(token) }), { as: token }],
    ['with a proof signed by another key', await prove({}, {}, thief.privateKey)],
    ['with a proof for another token', await prove({ ath: hashed('other') })],
    ['with a proof for no token', await prove({ ath: undefined })],
    ['with a proof for another method', await prove({ htm: 'GET' })],
    ['with a proof for another path', await prove({ htu: `${url}/one` })],
    ['with a proof for another host', await prove({ htu: 'https://evil.example/mcp' })],
    ['with a proof for no URL', await prove({ htu: undefined })],
    ['with an old proof', await prove({ iat: now - 120 })],
    ['with a proof of tomorrow', await prove({ iat: now + 86_400 })],
    ['with a proof of no time', await prove({ iat: undefined })],
    ['with a proof without id', await prove({ jti: undefined })],
    ['with an endless id', await prove({ jti: 'x'.repeat(1000) })],
    ['with another kind of JWT', await prove({}, { typ: 'JWT' })],
    ['with two proofs', `${await prove()}, ${await prove()}`],
    ['with no JWT', 'nonsense'],
    ['with the token as its proof', token],
  ];
  for (const [what, dpop, how] of cases) {
    const { status, headers } = await call(dpop, how);
    expect([what, status]).toEqual([what, 401]);
    expect(String(headers['www-authenticate'])).toMatch(/error="(invalid_token|invalid_dpop_proof)"/);
  }
  expect(runs()).toBe(0);
  expect((await call(good)).status).toBe(200);
});

it('a proof that was seen is refused, also in a race, and so is a proof with a private or symmetric key', async () => {
  const { url, runs } = await serving();
  const { jwk, privateKey, prove, call } = await createHolder(url);
  const one = await prove();
  const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await call(one)).status));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401, 401]);
  expect(runs()).toBe(1);
  const again = await call(one);
  expect([again.status, String(again.headers['www-authenticate'])]).toEqual([
    401,
    expect.stringContaining('error="invalid_dpop_proof"'),
  ]);
  expect(String(again.headers['www-authenticate'])).toMatch(/^DPoP .*algs=".*ES256/);
  const secret = await exportJWK(privateKey);
  expect((await call(await prove({}, { jwk: { ...jwk, d: secret.d } }))).status).toBe(401);
  const shared = { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' };
  const forged = await new SignJWT({ htm: 'POST', htu: url, jti: 'x', iat: Math.floor(Date.now() / 1000) })
    .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: shared })
    .sign(new Uint8Array(32));
  expect((await call(forged)).status).toBe(401);
});

it('a token that is bound to nothing, or otherwise, does not count as one that is', async () => {
  const { url } = await serving();
  const { prove, call } = await createHolder(url);
  const free = await issuer.token({ aud: url });
  expect((await call(await prove({ ath: hashed(free) }), { as: free })).status).toBe(401);
  expect((await call(undefined, { as: free, scheme: 'Bearer' })).status).toBe(200);
  for (const cnf of [{ 'x5t#S256': 'x' }, { jkt: 5 }, { jkt: '' }, 'x', {}, null]) {
    const odd = await issuer.token({ aud: url, cnf });
    expect([cnf, (await call(undefined, { as: odd, scheme: 'Bearer' })).status]).toEqual([cnf, 401]);
  }
});

it('with nonces, the first refusal brings one, and a made-up one does not count', async () => {
  const { url } = await serving({ dpop: { nonce: true } });
  const { prove, call } = await createHolder(url);
  const first = await call(await prove());
  expect([first.status, String(first.headers['www-authenticate'])]).toEqual([
    401,
    expect.stringContaining('error="use_dpop_nonce"'),
  ]);
  const nonce = String(first.headers['dpop-nonce']);
  expect((await call(await prove({ nonce }))).status).toBe(200);
  expect((await call(await prove({ nonce: 'made-up' }))).status).toBe(401);
});

it('where bound tokens are required, free ones are refused, keys work, and the metadata says so', async () => {
  const key = 'parley_a-key-of-somebody-0123456789';
  const { url } = await serving({ dpop: { required: true }, keys: [{ name: 'ci', key }] });
  const { prove, call } = await createHolder(url);
  const free = await call(undefined, { as: await issuer.token({ aud: url }), scheme: 'Bearer' });
  expect([free.status, String(free.headers['www-authenticate'])]).toEqual([401, expect.stringMatching(/^DPoP /)]);
  expect((await call(undefined, { as: key, scheme: 'Bearer' })).status).toBe(200);
  expect((await call(undefined, { as: key })).status).toBe(401);
  expect((await call(await prove())).status).toBe(200);
  const place = url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp');
  expect(await (await fetch(place)).json()).toMatchObject({
    dpop_bound_access_tokens_required: true,
    dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
  });
});

function hashed(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
