// People log in at the pages of a gateway with a browser, at a real OpenID provider: to approve what they have called, and before they log in
// at a server with an account of their own. Others, who have the link, do not get through.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createServer } from 'mcp-parley';
import { systemClock } from '../../src/kernel/base/clock.ts';
import { CLIENT, startCompany } from '../helpers/company.ts';
import type { Company, Mode } from '../helpers/company.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import type { Answer, Browser } from '../helpers/front-setup.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Calls the tool that has to be approved. */
async function callWipe(client: Awaited<ReturnType<Company['clientOf']>>, what: string) {
  const { content, _meta } = await client.callTool('wipe', { what });
  const { text } = content[0] as { text: string };
  const handle = String(_meta?.['mcp-parley/handle']);
  return {
    text,
    page: /http:\S+\/ask(?=,)/.exec(text)?.[0] ?? '',
    result: () => textOf(client, 'parley_answer', { handle }),
  };
}

/** The link in the list of open questions. */
function linkIn(page: Answer): string {
  return new URL(/href="([^"]+\?t=[^"]+)"/.exec(page.text)![1]!, page.url).href;
}

function csrfIn({ text }: Answer): string {
  return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

function visitorCookie({ cookies }: Browser): { name: string; value: string } {
  const [key, { value }] = [...cookies].find(([one]) => one.startsWith('parley-visitor'))!;
  return { name: key.split(' ')[0]!, value };
}

describe.each<Mode>(['issuer', 'front'])('with an %s', (mode) => {
  test('the caller logs in at the page and approves, and the receipt names them', async () => {
    const company = await startCompany(mode, { closing });
    const call = await callWipe(await company.clientOf('ada'), 'disk');
    expect(call.text).not.toContain('?t=');
    const ada = company.browserOf('ada');
    const before = await ada.open(call.page);
    expect(before.text).toContain(`Log in at ${new URL(company.idp).host}`);
    expect(before.text).not.toContain('wipe');
    const list = await ada.press(before, 'login');
    expect(list.text).toContain('Questions that wait for you');
    const round = await ada.open(linkIn(list));
    const shown = await ada.press(round, 'open');
    expect(shown.text).toContain('disk');
    await ada.press(shown, 'accept', { 'q0.0': 'true' });
    expect(await call.result()).toBe('wiped disk');
    const receipt = company.audited.find(({ kind }) => kind === 'approval');
    expect(JSON.stringify(receipt)).toContain(`login:${company.principalOf('ada')}`);
  });

  test('somebody else who is logged in sees neither list nor question, and cannot answer', async () => {
    const company = await startCompany(mode, { closing });
    const call = await callWipe(await company.clientOf('ada'), 'disk');
    const [ada, bob] = [company.browserOf('ada'), company.browserOf('bob')];
    const link = linkIn(await ada.press(await ada.open(call.page), 'login'));
    const list = await bob.press(await bob.open(call.page), 'login');
    expect(list.text).toContain('Nothing waits for you');
    const page = await bob.open(link);
    expect(page.text).toContain('logged in as somebody else');
    expect(page.text).not.toMatch(/wipe|disk/);
    for (const what of ['open', 'accept']) {
      const pressed = await bob.press({ ...page, url: link }, what, { 'q0.0': 'true' });
      expect(pressed.text).not.toMatch(/wipe|disk/);
    }
    // With what ada's page has in its form.
    const shown = await ada.press(await ada.open(link), 'open');
    expect(shown.text).toContain('disk');
    await bob.press({ ...shown, url: link }, 'accept', { 'q0.0': 'true' });
    expect(company.ran).toEqual([]);
  });

  test('a login counts in the browser that began it, and its cookie at this gateway alone', async () => {
    const company = await startCompany(mode, { closing });
    const other = await startCompany(mode, { closing });
    const call = await callWipe(await company.clientOf('ada'), 'disk');
    const [ada, mallory] = [company.browserOf('ada'), company.browserOf('mallory')];
    // Mallory's own login, finished in the browser of ada, and the other way round.
    const begun = await mallory.press(await mallory.open(call.page), 'login', {}, `${company.base}/`);
    expect(begun.url).toContain('/callback?');
    expect((await ada.open(begun.url)).text).not.toContain('waits for you');
    const ofAda = await ada.press(await ada.open(call.page), 'login', {}, `${company.base}/`);
    expect((await mallory.open(ofAda.url)).text).not.toContain('waits for you');
    const cookies = await mallory.open(
      ofAda.url.replace(/state=[^&]+/, `state=${new URL(begun.url).searchParams.get('state')}`),
    );
    expect(cookies.text).not.toContain('waits for you');
    // The code is spent, or was never given to this attempt.
    expect((await ada.open(call.page)).text).toContain('Log in at');
    // A cookie of another gateway, and altered ones.
    const elsewhere = other.browserOf('ada');
    await elsewhere.press(await elsewhere.open(`${other.base}/ask`), 'login');
    const { value } = visitorCookie(elsewhere);
    const bob = company.browserOf('bob');
    await bob.press(await bob.open(call.page), 'login');
    const { name, value: ofBob } = visitorCookie(bob);
    for (const forged of [
      value,
      `${value.slice(0, -2)}AA`,
      Buffer.from('{"principal":"x"}').toString('base64url'),
      '',
      `${ofBob}; ${name}=${value}`, // which of two is ours cannot be told
    ]) {
      const response = await fetch(call.page, { headers: { cookie: `${name}=${forged}` } });
      expect(await response.text()).toContain('Log in at');
    }
    const own = await fetch(call.page, { headers: { cookie: `${name}=${ofBob}` } });
    expect(await own.text()).toContain('You are logged in as bob.');
  });

  test('no other site begins a login, and none leads elsewhere', async () => {
    const company = await startCompany(mode, { closing });
    const call = await callWipe(await company.clientOf('ada'), 'disk');
    for (const origin of ['https://evil.example', 'null', undefined]) {
      const response = await fetch(call.page, {
        method: 'POST',
        headers: { ...(origin !== undefined && { origin }) },
        body: new URLSearchParams({ do: 'login' }),
      });
      expect([origin, response.status, response.headers.getSetCookie()]).toEqual([origin, 403, []]);
    }
    const ada = company.browserOf('ada');
    const list = await ada.press(await ada.open(`${call.page}?t=https://evil.example/`), 'login');
    expect(new URL(list.url).origin).toBe(company.base);
    const back = mode === 'front' ? '/oauth/callback' : '/ask/callback';
    for (const query of ['', '?state=x&code=y', '?error=access_denied', '?state=%'])
      expect((await fetch(`${company.base}${back}${query}`)).status).toBe(400);
    // Only a visit finishes a login.
    const bob = company.browserOf('bob');
    const begun = await bob.press(await bob.open(call.page), 'login', {}, `${company.base}/`);
    const cookie = [...bob.cookies].map(([key, { value }]) => `${key.split(' ')[0]}=${value}`).join('; ');
    for (const method of ['HEAD', 'POST']) {
      const response = await fetch(begun.url, { method, headers: { cookie }, redirect: 'manual' });
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test('who logs out is out, with every copy of the cookie, and nobody else logs them out', async () => {
    const company = await startCompany(mode, { closing });
    const call = await callWipe(await company.clientOf('ada'), 'disk');
    const [ada, bob] = [company.browserOf('ada'), company.browserOf('bob')];
    const list = await ada.press(await ada.open(call.page), 'login');
    const shown = await ada.press(await ada.open(linkIn(list)), 'open');
    expect(shown.text).toContain('disk');
    const stolen = new Map(ada.cookies);
    const { name, value } = visitorCookie(ada);
    const cookie = `${name}=${value}`;
    const seen = async () => (await fetch(call.page, { headers: { cookie } })).text();
    const ofBob = await bob.press(await bob.open(call.page), 'login');
    const csrf = csrfIn(list);
    for (const [origin, sent] of [
      ['https://evil.example', csrf],
      ['null', csrf],
      [undefined, csrf],
      [company.base, ''],
      [company.base, csrfIn(ofBob)],
      [company.base, `${csrf.slice(0, -2)}AA`],
    ] as const) {
      const headers = { cookie, ...(origin !== undefined && { origin }) };
      const body = new URLSearchParams({ do: 'logout', csrf: sent });
      const response = await fetch(call.page, { method: 'POST', headers, body });
      expect([origin, response.status, response.headers.getSetCookie()]).toEqual([origin, 403, []]);
    }
    await fetch(`${call.page}?do=logout&csrf=${csrf}`, { headers: { cookie } });
    expect(await seen()).toContain('You are logged in as ada.');
    const out = await ada.press(list, 'logout');
    expect([out.status, out.text]).toEqual([200, expect.stringContaining('You are logged out')]);
    expect(out.text).toContain(`still be logged in at ${new URL(company.idp).host}`);
    expect([...ada.cookies.keys()].filter((key) => key.includes('parley-visitor'))).toEqual([]);
    const ended = { kind: 'login', principal: company.principalOf('ada'), outcome: 'ended', details: { way: 'page' } };
    expect(company.audited).toContainEqual(expect.objectContaining(ended));
    // Neither the page that is still open nor a copy of the cookies answers.
    await ada.press(shown, 'accept', { 'q0.0': 'true' });
    for (const [key, kept] of stolen) ada.cookies.set(key, kept);
    await ada.press(shown, 'accept', { 'q0.0': 'true' });
    expect(await seen()).toContain('Log in at');
    expect(company.ran).toEqual([]);
    expect((await bob.open(call.page)).text).toContain('You are logged in as bob.');
    const again = await ada.press(await ada.open(call.page), 'login');
    expect(again.text).toContain('You are logged in as ada.');
  });

  test('only the caller’s own browser logs in at a server for them', async () => {
    await using server = await startOidcServer();
    const servers = { guarded: { server: { url: server.url }, account: 'user' as const } };
    const company = await startCompany(mode, { closing, servers, steps: [] });
    const client = await company.clientOf('ada');
    const { content, _meta } = await client.callTool('account', {});
    const link = /http:\S+\/login\?t=[\w-]+/.exec((content[0] as { text: string }).text)![0];
    const [ada, bob, nobody] = [company.browserOf('ada'), company.browserOf('bob'), company.browserOf('nobody')];
    // Bob is sent the link, and would give away the account that Bob has.
    const asked = await bob.open(link);
    expect(asked.text).toContain('Only their own browser can go on');
    const asBob = await bob.press(asked, 'visit');
    expect(asBob.text).toContain('Only their own browser can go on');
    await bob.press(asBob, 'continue', {}, server.issuer);
    const pressed = await nobody.press(asked, 'continue', {}, company.idp);
    expect(new URL(pressed.url).origin).toBe(company.idp);
    expect(server.counts.get('page')).toBeUndefined();
    // Ada logs in here first, then at the server.
    const own = await ada.press(await ada.open(link), 'visit');
    expect(own.text).toContain('Log in at guarded');
    // What ada has begun is not finished by bob, not even with her cookie of this login.
    const begun = await ada.press(own, 'continue', {}, `${company.base}/login/callback`);
    for (const [key, cookie] of ada.cookies) if (key.startsWith('parley-login')) bob.cookies.set(key, cookie);
    expect((await bob.open(begun.url)).text).toContain('Nothing here');
    expect((await ada.open(begun.url)).text).toContain('You are logged in at guarded');
    expect(await textOf(client, 'parley_answer', { handle: String(_meta?.['mcp-parley/handle']) })).toMatch(/\w/);
  });
});

test('a login that is not finished in ten minutes, and one of yesterday, count for nothing', async () => {
  let late = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + late };
  const company = await startCompany('issuer', { closing, clock });
  const ada = company.browserOf('ada');
  const page = await ada.open(`${company.base}/ask`);
  const begun = await ada.press(page, 'login', {}, `${company.base}/`);
  late = 11 * 60_000;
  expect((await ada.open(begun.url)).status).toBe(400);
  expect((await ada.press(page, 'login')).text).toContain('Nothing waits for you');
  late += 7 * 3_600_000;
  expect((await ada.open(page.url)).text).toContain('Nothing waits for you');
  late += 2 * 3_600_000;
  expect((await ada.open(page.url)).text).toContain('Log in at');
});

test('people log in at one issuer: of two, one could have codes of the other sent to itself', async () => {
  const two = ['https://a.example', 'https://b.example'].map((issuer) => ({ issuer, pages: CLIENT }));
  const front = { issuer: 'https://c.example', ...CLIENT };
  for (const auth of [{ issuers: two }, { issuers: [two[0]!], front }]) {
    const servers = { desk: createServer({ name: 'desk', version: '1' }) };
    expect(() => createGateway({ servers, publicUrl: 'https://gw.example', auth })).toThrow(/in one place/);
  }
});

test('an issuer whose URL no token can name is refused at the start', () => {
  const bad = ['https://a.example/#x', 'https://a.example?x', 'https://ann:hunter2@a.example', 'a.example'];
  const servers = { desk: createServer({ name: 'desk', version: '1' }) };
  for (const issuer of bad) {
    for (const auth of [
      { issuers: [issuer] },
      { issuers: [{ issuer }] },
      { front: { issuer, ...CLIENT } },
      { front: { issuer: 'https://a.example', ...CLIENT, assertions: [issuer] } },
    ]) {
      const start = () => createGateway({ servers, publicUrl: 'https://gw.example', auth });
      expect(start, issuer).toThrow(/issuer/);
      expect(start).not.toThrow(/hunter2/);
    }
  }
});

test('a refused person, and an audit log that fails, end nothing but this login', async () => {
  const company = await startCompany('front', {
    closing,
    audit: () => {
      throw new Error('the disk is full');
    },
  });
  const ada = company.browserOf('ada');
  const failed = await ada.press(await ada.open(`${company.base}/ask`), 'login');
  expect(failed.status).toBeGreaterThanOrEqual(400);
  expect(failed.text).not.toContain('disk is full');
  expect((await fetch(`${company.base}/healthz`)).status).toBe(200);
});

test('codes that are no good are not all sent to the issuer', async () => {
  const company = await startCompany('issuer', { closing });
  const ada = company.browserOf('ada');
  const begun = await ada.press(await ada.open(`${company.base}/ask`), 'login', {}, `${company.base}/`);
  const bad = begun.url.replace(/code=[^&]+/, 'code=bad');
  const begunAt = performance.now();
  for (let tries = 0; tries < 70; tries++) expect((await ada.open(bad)).status).toBe(400);
  const refilled = Math.ceil((performance.now() - begunAt) / 1000); // one more in each second
  expect(company.tokenRequests()).toBeLessThanOrEqual(Math.min(69, 61 + refilled));
});

test('a caller with a key is not answered for by a login', async () => {
  const key = 'key-of-ci-0123456789abcdef0123456789';
  const company = await startCompany('issuer', { closing });
  const both = await startCompany('issuer', {
    closing,
    auth: { keys: [{ name: 'ci', key }], issuers: [{ issuer: company.idp, pages: CLIENT }] },
    ask: { notify: () => {} },
  });
  const client = await connected({ url: `${both.base}/mcp`, headers: { authorization: `Bearer ${key}` } });
  closing.push(() => client.close());
  const call = await callWipe(client, 'disk');
  expect([call.page, call.text]).toEqual(['', expect.stringContaining('A person has been asked')]);
});
