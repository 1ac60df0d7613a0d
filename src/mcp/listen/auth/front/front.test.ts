// Clients that are described by a document (client-id metadata documents), honest ones and others.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import type { FrontPages } from '../../../../kernel/login-pages.ts';
import { systemClock } from '../../../../kernel/base/clock.ts';
import { createLog } from '../../../../kernel/base/log.ts';
import { createFront } from './front.ts';
import { whyRefused } from './person-login.ts';

const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).toReversed()) await close();
});

const ID = 'https://client.example/about.json';
const DOCUMENT = {
  client_id: ID,
  client_name: 'A client with a document',
  redirect_uris: ['http://127.0.0.1/callback'],
  token_endpoint_auth_method: 'none',
};

/** `answers`: what the web answers; without it, the guarded fetch is used. */
async function serving(answers?: (url: string) => Response | Promise<Response>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const seen: string[] = [];
  const end = (what: string) => (response: { end(text: string): void }) => response.end(what);
  const pages: FrontPages = {
    consent: (response, { client, redirect }) => response.end(`consent for ${client} at ${redirect}`),
    goOn: (response, url) => response.end(url),
    gone: end('gone'),
    refused: end('refused'),
  };
  const front = await createFront(
    { issuer: 'https://login.example.com', clientId: 'gateway' },
    {
      clock: systemClock,
      log,
      endpoint: `${base}/mcp`,
      scopes: ['mcp'],
      pages: async () => pages,
      ...(answers && {
        fetch: ((url: string) => {
          seen.push(url);
          return Promise.resolve(answers(url));
        }) as unknown as typeof fetch,
      }),
    },
  );
  server.on('request', (request, response) => {
    void front.handle(new URL(request.url!, base).pathname.replace('/oauth', ''), { request, response });
  });
  const ask = async (clientId = ID) => {
    const url = new URL(`${base}/oauth/auth`);
    const parts = {
      client_id: clientId,
      response_type: 'code',
      redirect_uri: 'http://127.0.0.1:4711/callback',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parts)) url.searchParams.set(name, value);
    const first = await fetch(url, { redirect: 'manual' });
    const next = first.headers.get('location');
    if (next === null) return first.text();
    const cookie = first.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    return (await fetch(new URL(next, url), { headers: { cookie } })).text();
  };
  return { ask, seen };
}

const json = (body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json', ...headers } });

it('a client is known by the document at its id, which is fetched once while its headers allow', async () => {
  const { ask, seen } = await serving(() => json(DOCUMENT, { 'cache-control': 'max-age=300' }));
  expect(await ask()).toBe('consent for A client with a document at 127.0.0.1:4711');
  expect(await ask()).toContain('consent for');
  expect(seen).toEqual([ID]);
});

it('a document that may not be kept is fetched again within seconds, and what it says then counts', async () => {
  let name = 'Before';
  const { ask, seen } = await serving(() => json({ ...DOCUMENT, client_name: name }, { 'cache-control': 'no-store' }));
  expect(await ask()).toContain('consent for Before');
  name = 'After';
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  expect(await ask()).toContain('consent for After');
  expect(seen.length).toBeGreaterThan(1);
});

it('a document that is large, of somebody else, elsewhere, secret or no document makes no client', async () => {
  const bad: [string, () => Response][] = [
    ['10 MB', () => json({ ...DOCUMENT, filler: 'x'.repeat(10 * 1024 * 1024) })],
    ['another id', () => json({ ...DOCUMENT, client_id: 'https://bank.example/about.json' })],
    ['its id with a slash', () => json({ ...DOCUMENT, client_id: `${ID}/` })],
    ['no id', () => json({ ...DOCUMENT, client_id: undefined })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/latest' } })],
    ['an error', () => new Response('{}', { status: 500 })],
    ['a secret', () => json({ ...DOCUMENT, client_secret: 'x' })],
    ['no object', () => json([DOCUMENT])],
    ['no JSON', () => new Response('<html>')],
    ['a redirect to a script', () => json({ ...DOCUMENT, redirect_uris: ['javascript:alert(1)'] })],
    ['a foreign redirect', () => json({ ...DOCUMENT, redirect_uris: ['https://other.example/back'] })],
  ];
  for (const [what, answer] of bad) {
    const { ask } = await serving(answer);
    expect([what, await ask()]).toEqual([what, expect.stringContaining('This link does not work')]);
  }
});

it('ids that lead into this machine or its network are not fetched', async () => {
  const { ask } = await serving();
  for (const id of [
    'http://client.example/about.json',
    'https://127.0.0.1:1/about.json',
    'https://[::ffff:169.254.169.254]/latest',
    'https://10.0.0.1/about.json',
    'https://localhost/about.json',
    'https://user@client.example/about.json',
    'https://client.example/a/../about.json',
  ])
    expect([id, await ask(id)]).toEqual([id, expect.stringContaining('This link does not work')]);
});

it('says who may log in by exact claims, and by e-mail addresses that were verified', () => {
  const ann = { sub: 'a', hd: 'example.com', email: 'ann@example.com', email_verified: true, groups: ['x', 'ops'] };
  expect(whyRefused(ann, {})).toBe(undefined);
  expect(whyRefused(ann, { hd: 'example.com', groups: ['dev', 'ops'] })).toBe(undefined);
  expect(whyRefused(ann, { hd: 'example.com', groups: 'dev' })).toBe('its groups is not among the allowed');
  expect(whyRefused({ ...ann, email_verified: false }, { email: 'ann@example.com' })).toContain('verified');
  expect(whyRefused({ ...ann, email_verified: undefined }, { email: 'ann@example.com' })).toContain('verified');
  expect(whyRefused({ ...ann, hd: 'evil.example.com' }, { hd: 'example.com' })).toContain('is not among the allowed');
  expect(whyRefused(ann, { toString: 'x' })).toBe('the ID token has no claim toString');
  expect(whyRefused(ann, { hd: [] })).toContain('is not among the allowed');
});
