// Attacks on the authorization server in front: every MUST of MCP's security best practices for such proxies, and what else has broken others.
import { expect, test } from 'vitest';
import { decodeJwt } from 'jose';
import { callModern } from '../helpers/mcp-http.ts';
import { send } from '../helpers/http-wire.ts';
import {
  Browser,
  REDIRECT,
  VERIFIER,
  authorizeLink,
  byCode,
  exchange,
  register,
  startFront,
} from '../helpers/front-setup.ts';
import type { Answer } from '../helpers/front-setup.ts';

const as = (token: string | undefined) => ({ authorization: `Bearer ${token}` });
const isConsent = ({ status, text }: Answer) => status === 200 && text.includes('Allow access?');

async function newClient(front: string, metadata: object = {}): Promise<string> {
  return String((await register(front, metadata)).client_id);
}

async function consented(
  front: string,
  id: string,
  browser: Browser,
  more: Record<string, string> = {},
): Promise<string> {
  const page = await browser.open(await authorizeLink(front, id, more));
  expect(isConsent(page)).toBe(true);
  return (await browser.decide(page, 'allow', REDIRECT)).url;
}

test('each client needs a consent of its own, though the person is logged in and the identity provider sees one client', async () => {
  await using setup = await startFront();
  const { front, asked } = setup;
  const browser = new Browser();
  await consented(front, await newClient(front), browser);
  expect(asked).toHaveLength(1);
  const evil = await newClient(front, {
    client_name: 'Evil <script>alert(1)</script>',
    redirect_uris: ['https://evil.example/back'],
  });
  const link = await authorizeLink(front, evil, { redirect_uri: 'https://evil.example/back' });
  const page = await browser.open(link, { stop: 'https://evil.example' });
  expect([isConsent(page), page.url.startsWith(front)]).toEqual([true, true]);
  expect(page.text).toContain('evil.example');
  expect(page.text).not.toContain('<script>');
  expect(asked).toHaveLength(1);
  const silent = await browser.open(
    await authorizeLink(front, evil, { redirect_uri: 'https://evil.example/back', prompt: 'none' }),
    {
      stop: 'https://evil.example',
    },
  );
  expect(new URL(silent.url).searchParams.get('code')).toBeNull();
});

test('nothing leaves for the identity provider, and no state exists, before the person has agreed', async () => {
  await using setup = await startFront();
  const { front, asked } = setup;
  const browser = new Browser();
  const page = await browser.open(await authorizeLink(front, await newClient(front)));
  expect(isConsent(page)).toBe(true);
  expect([asked.length, [...browser.cookies.keys()].some((name) => name.startsWith('parley_login'))]).toEqual([
    0,
    false,
  ]);
  await browser.decide(page, 'allow', REDIRECT);
  expect(asked).toHaveLength(1);
  expect(asked[0]!.searchParams.get('state')!.length).toBeGreaterThan(30);
  expect(asked[0]!.searchParams.get('code_challenge_method')).toBe('S256');
});

test('the page of consent cannot be framed, sent by another page, replayed or used by another browser', async () => {
  await using setup = await startFront();
  const { front, asked } = setup;
  const browser = new Browser();
  const [mine, other] = [await newClient(front), await newClient(front)];
  const page = await browser.open(await authorizeLink(front, mine));
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect([page.headers.get('x-frame-options'), page.headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
  const token = /name="token" value="([^"]+)"/.exec(page.text)![1]!;
  // Another browser has no cookie of this page.
  expect((await new Browser().open(page.url)).status).toBe(400);
  expect((await new Browser().open(page.url, { form: { token, do: 'allow' } })).status).toBe(400);
  // The token of one client's page does not count on the page of another.
  const otherPage = await browser.open(await authorizeLink(front, other));
  expect((await browser.open(otherPage.url, { form: { token, do: 'allow' } })).status).toBe(400);
  expect((await browser.open(otherPage.url, { form: { do: 'allow' } })).status).toBe(400);
  const cookie = [...browser.cookies].map(([key, { value }]) => `${key.split(' ')[0]}=${value}`).join('; ');
  for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
    const headers = { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await send(otherPage.url, {
      method: 'POST',
      headers,
      body: `do=allow&token=${encodeURIComponent(token)}`,
    });
    expect(sent.status).toBeGreaterThanOrEqual(400);
  }
  expect(asked).toEqual([]);
});

test('who comes back from the identity provider must be the browser that has agreed, once, from the right issuer', async () => {
  await using setup = await startFront();
  const { front, asked, idp } = setup;
  const id = await newClient(front);
  const victim = new Browser();
  const stolen = async (browser: Browser) => {
    const page = await browser.open(await authorizeLink(front, id));
    return (await browser.decide(page, 'allow', `${front}/callback`)).url;
  };
  // The attacker's login in the browser of the victim.
  const back = await stolen(new Browser());
  expect(new URL(back).searchParams.get('code')).not.toBeNull();
  expect((await victim.open(back, { stop: REDIRECT })).status).toBe(400);
  // A made-up state, and one that belongs to nothing.
  for (const state of ['', 'made-up', asked[0]!.searchParams.get('state')!])
    expect((await victim.open(`${front}/callback?code=x&state=${state}`)).status).toBe(400);
  // The answer of another issuer (mix-up), and an issuer spelt otherwise.
  for (const iss of ['https://evil.example', `${idp}/`, idp.toUpperCase()]) {
    const browser = new Browser();
    const forged = new URL(await stolen(browser));
    forged.searchParams.set('iss', iss);
    expect([iss, (await browser.open(forged.href, { stop: REDIRECT })).status]).toEqual([iss, 400]);
  }
  // The same answer twice.
  const browser = new Browser();
  const good = await stolen(browser);
  expect((await browser.open(good, { stop: REDIRECT })).url.startsWith(REDIRECT)).toBe(true);
  expect((await browser.open(good, { stop: REDIRECT })).status).toBe(400);
});

test('redirects count exactly as they were registered', async () => {
  await using setup = await startFront();
  const { front } = setup;
  const native = await newClient(front);
  const web = await newClient(front, { redirect_uris: ['https://app.example/back'] });
  const cases: [string, string][] = [
    [native, 'http://localhost:33418/callback'],
    [native, 'http://127.0.0.1:33418/callback/more'],
    [native, 'http://127.0.0.1:33418/callback?x=1'],
    [native, 'http://127.0.0.1.evil.example/callback'],
    [native, 'http://user@127.0.0.1:33418/callback'],
    [web, 'https://app.example:8443/back'],
    [web, 'https://app.example/back/../evil'],
    [web, 'https://app.example.evil.example/back'],
    [web, 'http://app.example/back'],
  ];
  for (const [id, redirect_uri] of cases) {
    const answer = await new Browser().open(await authorizeLink(front, id, { redirect_uri }), { stop: redirect_uri });
    expect([redirect_uri, answer.status, answer.headers.get('location')]).toEqual([redirect_uri, 400, null]);
    expect(answer.text).not.toContain('evil');
  }
  for (const redirect of ['http://evil.example/cb', 'javascript:alert(1)', 'data:text/html,x', 'https://a.example/#x'])
    expect([redirect, (await register(front, { redirect_uris: [redirect] })).status]).toEqual([redirect, 400]);
});

test('codes need PKCE and count once; a refresh token that is used twice ends the login', async () => {
  await using setup = await startFront();
  const { url, front } = setup;
  const [id, other] = [await newClient(front), await newClient(front)];
  for (const more of [
    { code_challenge: '', code_challenge_method: '' },
    { code_challenge: VERIFIER, code_challenge_method: 'plain' },
  ]) {
    const answer = await new Browser().open(await authorizeLink(front, id, more), { stop: REDIRECT });
    expect(answer.text + answer.url).toMatch(/invalid_request/);
  }
  const back = await consented(front, id, new Browser());
  expect(new URL(back).searchParams.get('iss')).toBe(front);
  expect((await exchange(front, { ...byCode(id, back), code_verifier: `${VERIFIER}-of-a-thief` })).status).toBe(400);
  expect((await exchange(front, byCode(other, back))).status).toBe(400);
  const fresh = await consented(front, id, new Browser());
  const [first, second] = await Promise.all([exchange(front, byCode(id, fresh)), exchange(front, byCode(id, fresh))]);
  expect([first.status, second.status].filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  const last = await exchange(front, byCode(id, await consented(front, id, new Browser())));
  const renew = (token: string) =>
    exchange(front, { grant_type: 'refresh_token', client_id: id, refresh_token: token });
  const renewed = await renew(last.body['refresh_token']!);
  expect(renewed.status).toBe(200);
  expect((await renew(last.body['refresh_token']!)).status).toBe(400);
  expect((await renew(renewed.body['refresh_token']!)).status).toBe(400);
  expect((await callModern(url, 'hello__whoami', {}, as(last.body['access_token']))).status).toBe(200);
});

test('tokens are for one of our URLs, for the scopes of this gateway, and never make an operator', async () => {
  await using setup = await startFront({ auth: { scopes: ['mcp'], toolScopes: { hello__who: ['write'] } } });
  const { url, front } = setup;
  const id = await newClient(front);
  for (const resource of ['https://other.example/mcp', url.replace('/mcp', ''), `${url}/a/b`, `${url}x`, 'nonsense']) {
    const answer = await new Browser().open(await authorizeLink(front, id, { resource }), { stop: REDIRECT });
    expect([resource, answer.url.includes('code='), isConsent(answer)]).toEqual([resource, false, false]);
  }
  const part = await exchange(
    front,
    byCode(id, await consented(front, id, new Browser(), { resource: `${url}/hello`, scope: 'mcp' })),
  );
  expect(decodeJwt(part.body['access_token']!).aud).toBe(`${url}/hello`);
  expect((await callModern(url, 'hello__whoami', {}, as(part.body['access_token']))).status).toBe(401);
  expect((await callModern(`${url}/hello`, 'whoami', {}, as(part.body['access_token']))).status).toBe(200);
  const asked = await new Browser().open(await authorizeLink(front, id, { scope: 'mcp admin' }), { stop: REDIRECT });
  const browser = new Browser();
  if (isConsent(asked)) {
    const whole = await exchange(front, byCode(id, await consented(front, id, browser, { scope: 'mcp admin' })));
    expect(String(decodeJwt(whole.body['access_token']!)['scope'])).not.toContain('admin');
  } else expect(asked.url).toContain('error=invalid_scope');
});

test('the address of the authorization server is the configured one, whatever headers say', async () => {
  await using setup = await startFront();
  const { front } = setup;
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/evil',
    forwarded: 'host=evil.example',
  };
  const place = `${front}/.well-known/openid-configuration`;
  const { text } = await send(place, {
    method: 'GET',
    headers: { ...headers, host: new URL(front).host.replace('127.0.0.1', 'localhost') },
  });
  expect(text).not.toContain('evil');
  expect(JSON.parse(text)).toMatchObject({ issuer: front, token_endpoint: `${front}/token` });
});
