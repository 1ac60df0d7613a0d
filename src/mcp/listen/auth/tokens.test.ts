// Access tokens: what is accepted, and the attacks that are not.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateKeyPair } from 'jose';
import { BOTH, openSocket, openStream, send } from '../../../../tests/helpers/http-wire.ts';
import { socketWire } from '../../../../tests/helpers/line-wire.ts';
import { callModern, modern, openSession } from '../../../../tests/helpers/mcp-http.ts';
import { until } from '../../../../tests/helpers/until.ts';
import type { Identity } from '../../../kernel/exchange.ts';
import type { Next, StepExchange } from '../../../kernel/step.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { GatewayOptions } from '../../../gateway/gateway.ts';
import { createTestIssuer, json } from './issuer.contract.ts';
import type { TestIssuer, TokenShape } from './issuer.contract.ts';

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

const as = (token: string) => ({ authorization: `Bearer ${token}` });

async function serving(auth: GatewayOptions['auth'] = {}, options: Partial<GatewayOptions> = {}) {
  const servers = Object.fromEntries(
    ['one', 'two'].map((name) => {
      const server = createServer({ name, version: '1', log });
      server.tool('echo', {}, ({ text }) => String(text));
      server.tool('erase', {}, () => 'erased');
      return [name, server];
    }),
  );
  const seen: (Identity | undefined)[] = [];
  const look = (exchange: StepExchange, next: Next) => {
    if (exchange.method === 'tools/call') seen.push(exchange.client.connection?.identity);
    return next();
  };
  const gateway = createGateway({
    servers,
    log,
    steps: [look],
    auth: { issuers: [issuer.url], ...auth },
    ...options,
  });
  closing.push(() => gateway.close());
  const { url, port } = await gateway.listen({ port: 0 });
  const statusOf = async (token: string, path = '/mcp', tool = 'one__echo') =>
    (await callModern(url.replace('/mcp', path), tool, {}, as(token))).status;
  return { gateway, url, port, seen, statusOf };
}

describe('an access token', () => {
  it('lets its user in on every transport, and steps see who it is', async () => {
    const { url, port, seen } = await serving();
    const token = await issuer.token({ aud: url, scope: 'read write', groups: ['ops', 5], name: 'Ann' });
    const session = await openSession(url, { headers: as(token) });
    expect((await session.call('one__echo', { text: 'hi' })).json.result?.content?.[0]?.text).toBe('hi');
    expect((await callModern(url, 'one__echo', {}, as(token))).status).toBe(200);
    const { wire } = await socketWire(port, as(token));
    await wire.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    });
    await wire.request('tools/call', { name: 'one__echo', arguments: {} });
    const ann = {
      principal: `${issuer.url}#ann`,
      issuer: issuer.url,
      subject: 'ann',
      scopes: ['read', 'write'],
      groups: ['ops'],
      claims: { name: 'Ann' },
    };
    expect(seen).toMatchObject([ann, ann, ann]);
    expect(issuer.seen.filter((path) => path === '/jwks')).toHaveLength(1);
  });

  it('of another kind, shape or key is refused with 401, and runs nothing', async () => {
    const { url, seen, statusOf } = await serving();
    const stranger = await generateKeyPair('ES256');
    const now = Math.floor(Date.now() / 1000);
    const cases: [string, Record<string, unknown>, TokenShape?][] = [
      ['another audience', { aud: 'https://other.example/mcp' }],
      ['no audience', {}, { without: ['aud'] }],
      ['the client as audience', { aud: 'some-client' }],
      ['no exp', { aud: url }, { without: ['exp'] }],
      ['an exp that is text', { aud: url, exp: 'never' }],
      ['expired', { aud: url, exp: now - 60 }],
      ['not yet', { aud: url, nbf: now + 600 }],
      ['no sub', { aud: url }, { without: ['sub'] }],
      ['an empty sub', { aud: url, sub: '' }],
      ['another issuer', { aud: url, iss: 'https://evil.example' }],
      ['an issuer with a slash', { aud: url, iss: `${issuer.url}/` }],
      ['a strange key under our kid', { aud: url }, { key: stranger.privateKey }],
      ['a path as kid', { aud: url }, { header: { kid: '../../../../etc/passwd' }, key: stranger.privateKey }],
      [
        'a key in its header',
        { aud: url },
        { header: { jku: 'http://127.0.0.1:1/jwks', kid: 'x' }, key: stranger.privateKey },
      ],
      ['a logout token', { aud: url }, { header: { typ: 'logout+jwt' } }],
      ['an identity assertion', { aud: url }, { header: { typ: 'oauth-id-jag+jwt' } }],
      ['bound to a key of its client', { aud: url, cnf: { jkt: 'x' } }],
      ['an audience that is an object', { aud: { url } }],
      ['an audience inside a list', { aud: [[url]] }],
      ['an audience that is a number', { aud: 5 }],
    ];
    for (const [what, claims, shape] of cases) {
      expect([what, await statusOf(await issuer.token(claims, shape))]).toEqual([what, 401]);
    }
    expect(seen).toEqual([]);
    expect(await statusOf(await issuer.token({ aud: [url, 'x'] }))).toBe(200);
  });

  it('without a signature, or signed with the public key as secret, is refused', async () => {
    const { url, statusOf } = await serving({
      issuers: [{ issuer: issuer.url, algorithms: ['HS256', 'none', 'ES256'] }],
    });
    const good = await issuer.token({ aud: url });
    const [, body] = good.split('.');
    const head = (alg: string) => Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid: 'one' })).toString('base64url');
    expect(await statusOf(`${head('none')}.${body}.`)).toBe(401);
    expect(await statusOf(`${head('none')}.${body}.AAAA`)).toBe(401);
    const jwks = await (await fetch(`${issuer.url}/jwks`)).text();
    for (const secret of [jwks, JSON.stringify((JSON.parse(jwks) as { keys: object[] }).keys[0])]) {
      const token = await issuer.token(
        { aud: url },
        { header: { alg: 'HS256' }, key: new TextEncoder().encode(secret) },
      );
      expect(await statusOf(token)).toBe(401);
    }
    expect(await statusOf(good)).toBe(200);
    expect(await statusOf(`${good.slice(0, -4)}AAAA`)).toBe(401);
  });

  it('for one path is not a token for another; one for the whole endpoint is good for its parts', async () => {
    const { url, statusOf } = await serving();
    const one = await issuer.token({ aud: `${url}/one` });
    expect([
      await statusOf(one, '/mcp/one', 'echo'),
      await statusOf(one, '/mcp/two', 'echo'),
      await statusOf(one),
    ]).toEqual([200, 401, 401]);
    const whole = await issuer.token({ aud: url });
    expect([await statusOf(whole), await statusOf(whole, '/mcp/two', 'echo')]).toEqual([200, 200]);
    const origin = await issuer.token({ aud: new URL(url).origin });
    expect(await statusOf(origin)).toBe(401);
  });

  it('counts for the port that is open, whatever the Host header says', async () => {
    const { url } = await serving();
    const elsewhere = await issuer.token({ aud: 'http://127.0.0.1:9/mcp' });
    const request = modern('tools/list');
    const lying = { ...request.headers, ...as(elsewhere), host: '127.0.0.1:9' };
    expect((await send(url, { ...request, headers: lying })).status).toBe(401);
    const here = await issuer.token({ aud: url.replace('127.0.0.1', 'localhost') });
    expect(
      (await send(url.replace('127.0.0.1', 'localhost'), { ...request, headers: { ...request.headers, ...as(here) } }))
        .status,
    ).toBe(200);
  });

  it('for an issuer without resource indicators counts by the configured audience', async () => {
    const { statusOf } = await serving({ issuers: [{ issuer: issuer.url, audience: ['api://mcp'] }] });
    expect(await statusOf(await issuer.token({ aud: 'api://mcp' }))).toBe(200);
    expect(await statusOf(await issuer.token({ aud: 'api://other' }))).toBe(401);
  });

  it('is not an ID token, a logout token or a refresh token of a client whose id is the audience', async () => {
    const { seen, statusOf } = await serving({ issuers: [{ issuer: issuer.url, audience: 'client-guid' }] });
    const statusFor = async (claims: object, typ: string | undefined = 'JWT') =>
      statusOf(await issuer.token({ aud: 'client-guid', ...claims }, { header: { typ } }));
    const others: object[] = [
      { nonce: 'n', azp: 'client-guid', auth_time: 1 },
      ...['at_hash', 'c_hash', 's_hash'].map((claim) => ({ [claim]: 'h' })),
      { events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sid: 's' },
      { events: {}, typ: 'Bearer' },
      { token_use: 'id' },
      {},
      { azp: 'client-guid', auth_time: 1, email: 'alice@example.com' },
      ...['ID', 'Refresh', 'Logout', 'Offline', 'id'].map((typ) => ({ typ })),
    ];
    for (const claims of others) expect([claims, await statusFor(claims)]).toEqual([claims, 401]);
    expect(seen).toEqual([]);
    // As Entra, Okta and Auth0, Cognito, Keycloak (before version 24 with a nonce), and RFC 9068 have them.
    const access: [object, string?][] = [
      [{ ver: '2.0', scp: 'read', azp: 'client-guid', tid: 't' }],
      [{ scp: ['read'], cid: 'client-guid', uid: 'u' }],
      [{ scope: 'openid read', azp: 'client-guid', gty: 'password' }],
      [{ azp: 'another-client' }],
      [{ roles: ['Tools.Call'], azp: 'client-guid' }],
      [{ token_use: 'access', client_id: 'client-guid' }],
      [{ typ: 'Bearer', nonce: 'n', azp: 'client-guid', sid: 's' }],
      [{ nonce: 'n' }, 'at+jwt'],
      [{ nonce: 'n' }, 'application/at+jwt'],
    ];
    for (const [claims, typ] of access) expect([claims, await statusFor(claims, typ)]).toEqual([claims, 200]);
  });

  it('gives no scope that hides inside another', async () => {
    const { url, seen, statusOf } = await serving({ scopes: ['write'] });
    const statuses = await Promise.all(
      [
        { scope: ['write'] },
        { scope: 'read', scp: ['write'] },
        { scp: ['read write'] },
        { scope: 'read\twrite' },
        { scope: 'writer' },
        { scopes: 'write' },
        { scope: 'read write' },
        { scp: ['read', 'write'] },
        { scp: 'write' },
      ].map(async (claims) => statusOf(await issuer.token({ aud: url, ...(claims as object) }))),
    );
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 200, 200, 200]);
    expect(seen).toHaveLength(3);
  });

  it('that expires ends its streams, and not those of a renewed one', async () => {
    const { url, port } = await serving();
    const soon = Math.floor(Date.now() / 1000) + 2;
    const [short, long] = [await issuer.token({ aud: url, exp: soon }), await issuer.token({ aud: url })];
    const session = await openSession(url, { headers: as(short) });
    const stream = await session.stream();
    const listen = modern('subscriptions/listen', { notifications: {} });
    const listening = await openStream(url, {
      method: 'POST',
      ...listen,
      headers: { ...listen.headers, ...as(short), accept: BOTH },
    });
    const [{ wire }, other] = [await socketWire(port, as(short)), await socketWire(port, as(long))];
    expect([stream.ended, listening.ended, wire.closed]).toEqual([false, false, false]);
    await Promise.all([stream.untilEnd(), listening.untilEnd()]);
    await until('the socket to close', () => wire.closed);
    expect(other.wire.closed).toBe(false);
    expect((await session.request('ping')).status).toBe(401);
    // The session is the user's, not the token's.
    expect((await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, as(long))).status).toBe(200);
  });
});

describe('a gateway with issuers', () => {
  it('says in its refusals where to log in, for which scopes, and answers what clients ask then', async () => {
    const { url } = await serving({ scopes: ['mcp'], toolScopes: { '*__erase': ['mcp', 'write'] } });
    const at = (path: string) => new URL(path, url).href;
    const missing = await callModern(url, 'one__echo', {});
    expect([missing.status, missing.headers['www-authenticate']]).toEqual([
      401,
      `Bearer scope="mcp", resource_metadata="${at('/.well-known/oauth-protected-resource/mcp')}"`,
    ]);
    const wrong = await callModern(`${url}/two`, 'echo', {}, as('nonsense'));
    expect(wrong.headers['www-authenticate']).toBe(
      `Bearer error="invalid_token", error_description="the key or token is not valid", scope="mcp", resource_metadata="${at('/.well-known/oauth-protected-resource/mcp/two')}"`,
    );
    const token = await issuer.token({ aud: url, scope: 'mcp' });
    const more = await callModern(url, 'one__erase', {}, as(token));
    expect([more.status, more.headers['www-authenticate']]).toEqual([
      403,
      `Bearer error="insufficient_scope", error_description="this needs the scope mcp write", scope="mcp write", resource_metadata="${at('/.well-known/oauth-protected-resource/mcp')}"`,
    ]);
    const session = await openSession(url, { headers: as(token) });
    expect((await session.call('one__erase')).status).toBe(403);
    const get = async (path: string) => {
      const reply = await send(at(path), { method: 'GET' });
      return reply.status === 200 ? (JSON.parse(reply.text) as Record<string, unknown>) : reply.status;
    };
    const about = {
      resource: url,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'RS256']),
      scopes_supported: ['mcp', 'write'],
    };
    expect(await get('/.well-known/oauth-protected-resource')).toEqual(about);
    expect(await get('/.well-known/oauth-protected-resource/mcp')).toEqual(about);
    expect(await get('/.well-known/oauth-protected-resource/mcp/two')).toEqual({ ...about, resource: `${url}/two` });
    expect(await get('/.well-known/oauth-protected-resource/sse')).toEqual({ ...about, resource: at('/sse') });
    expect(await get('/.well-known/oauth-protected-resource/elsewhere')).toBe(404);
    expect(await get('/.well-known/oauth-authorization-server')).toMatchObject({ issuer: issuer.url });
  });

  it('refuses a whole URL as the target of a request', async () => {
    for (const publicUrl of [undefined, 'https://mcp.example.com']) {
      const { port } = await serving({}, { publicUrl });
      const socket = await openSocket(port);
      socket.write(`POST http://evil.example/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 0\r\n\r\n`);
      await until('an answer', () => socket.text().includes('\r\n\r\n'));
      expect(socket.text()).toMatch(/^HTTP\/1\.1 400 /);
      expect(socket.text()).not.toContain('evil');
      socket.destroy();
    }
  });

  it('follows a rotation of keys, and asks the issuer only now and then about keys that tokens make up', async () => {
    let later = 0;
    const clock = { ...systemClock, now: () => Date.now() + later };
    const { url, statusOf } = await serving({}, { clock });
    expect(await statusOf(await issuer.token({ aud: url }))).toBe(200);
    await issuer.rotate('two');
    later = 31_000;
    expect(await statusOf(await issuer.token({ aud: url }))).toBe(200);
    const before = issuer.seen.length;
    for (let n = 0; n < 20; n++) await statusOf(await issuer.token({ aud: url }, { header: { kid: `made-up-${n}` } }));
    expect(issuer.seen.length - before).toBe(0);
  });

  it('answers 503 while its issuer cannot be asked, or sends what cannot be keys', async () => {
    for (const body of [
      () => '{',
      () => JSON.stringify({ keys: Array.from({ length: 1000 }, () => ({ kty: 'EC' })) }),
      () => `{"keys":[],"x":"${'x'.repeat(1024 * 1024)}"}`,
    ]) {
      issuer.answers.set('/jwks', (_, response) => void response.writeHead(200).end(body()));
      const { url, statusOf } = await serving();
      expect(await statusOf(await issuer.token({ aud: url }))).toBe(503);
    }
    issuer.answers.set(
      '/jwks',
      (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/keys' }).end(),
    );
    const { url, statusOf } = await serving();
    expect(await statusOf(await issuer.token({ aud: url }))).toBe(503);
  });

  it('refuses metadata of another issuer', async () => {
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])
      issuer.answers.set(path, (_, response) =>
        json(response, { issuer: 'https://evil.example', jwks_uri: `${issuer.url}/jwks` }),
      );
    const { url, statusOf } = await serving();
    expect(await statusOf(await issuer.token({ aud: url }))).toBe(503);
  });

  it('asks the issuer about tokens that are not JWTs', async () => {
    const introspection = { clientId: 'gw', clientSecret: 's3cret of gw', cacheMs: 0 };
    const { url, seen, statusOf } = await serving({ issuers: [{ issuer: issuer.url, introspection }] });
    const exp = Math.floor(Date.now() / 1000) + 60;
    const told: Record<string, object> = {
      good: { active: true, sub: 'bob', exp, aud: url, scope: 'read' },
      over: { active: false },
      elsewhere: { active: true, sub: 'bob', exp, aud: 'https://other.example' },
      endless: { active: true, sub: 'bob', aud: url },
      foreign: { active: true, sub: 'bob', exp, aud: url, iss: 'https://evil.example' },
      unsure: { active: 'true', sub: 'bob', exp, aud: url },
    };
    const asked: string[] = [];
    issuer.answers.set('/introspect', (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        asked.push(String(request.headers.authorization));
        json(response, told[new URLSearchParams(body).get('token')!] ?? { active: false });
      });
    });
    expect(
      await Promise.all(
        ['good', 'over', 'elsewhere', 'endless', 'foreign', 'unsure', 'made-up'].map((token) => statusOf(token)),
      ),
    ).toEqual([200, 401, 401, 401, 401, 401, 401]);
    expect(seen).toMatchObject([{ principal: `${issuer.url}#bob`, scopes: ['read'] }]);
    expect(asked[0]).toBe(`Basic ${Buffer.from('gw:s3cret%20of%20gw').toString('base64')}`);
    told.good = { active: false };
    expect(await statusOf('good')).toBe(401);
  });

  it('takes good tokens of an address that floods it with bad ones, and asks nobody about the bad ones', async () => {
    const introspection = { clientId: 'gw', clientSecret: 's3cret of gw' };
    const [now, ticks] = [Date.now(), performance.now()];
    const clock = { ...systemClock, now: () => now, ticks: () => ticks };
    const { url, statusOf } = await serving({ issuers: [{ issuer: issuer.url, introspection }] }, { clock });
    issuer.answers.set('/introspect', (_, response) => json(response, { active: false }));
    const signed = (claims = {}, shape?: TokenShape) => issuer.token({ aud: url, ...claims }, shape);
    const bad = async (n: number) => statusOf(`bad-${n}`);
    const flood = await Promise.all(Array.from({ length: 60 }, (_, n) => bad(n)));
    expect(new Set(flood)).toEqual(new Set([401]));
    expect([await bad(61), await statusOf(await signed()), await statusOf(await signed({ sub: 'eve' }))]).toEqual([
      429, 200, 200,
    ]);
    expect(await statusOf(`${(await signed()).slice(0, -8)}AAAAAAAA`)).toBe(401);
    const asked = issuer.seen.length;
    const strange = [
      await signed({}, { header: { kid: 'x' } }),
      await signed({ iss: 'https://evil.example' }),
      'a.b.c',
    ];
    for (const token of strange) expect([token, await statusOf(token)]).toEqual([token, 429]);
    expect(issuer.seen.length).toBe(asked);
  });

  it('needs to know its public URL on an address that others can reach', async () => {
    const gateway = createGateway({ servers: {}, log, auth: { issuers: [issuer.url] } });
    closing.push(() => gateway.close());
    await expect(gateway.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow(/publicUrl/);
  });

  it('takes tokens for its public URL alone', async () => {
    const { url, statusOf } = await serving({}, { publicUrl: 'https://mcp.example.com' });
    expect(await statusOf(await issuer.token({ aud: url }))).toBe(401);
    expect(await statusOf(await issuer.token({ aud: 'https://mcp.example.com/mcp' }))).toBe(200);
  });
});
