import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/base/clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { createSealer } from '../../kernel/crypto/seal.ts';
import { createPagePort } from '../../mcp/listen/http/page-port.ts';
import { createAskPage } from './ask-page.ts';
import type { AskPageOptions } from './ask-page.ts';
import { FakeBrowser, csrfOf, fakeRound, formRound } from './fake-round.contract.ts';
import type { FakeRound } from './fake-round.contract.ts';

const log = createLog({ level: 'silent' });
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(round: FakeRound, options: Partial<AskPageOptions> = {}) {
  const rounds = new Map([[round.handle, round]]);
  const port = createPagePort({ pages: () => page.pages, log });
  const page = createAskPage({
    round: (handle) => rounds.get(handle),
    sealer: createSealer(),
    clock: systemClock,
    log,
    baseUrl: () => port.url(),
    ...options,
  });
  closing.push(() => port.close());
  return { url: await page.link(round), page, rounds };
}

const NAME = { name: { type: 'string', title: 'Name' } };

describe('the link', () => {
  it('leads over one button to the form, and the answer reaches its round', async () => {
    const round = formRound(NAME);
    const { url } = await serve(round);
    const browser = new FakeBrowser();
    const first = await browser.get(url);
    expect(first.status).toBe(200);
    expect(first.text).toContain('A question is waiting for you');
    expect(first.text).not.toContain('What shall it be?');
    const form = await browser.open(url);
    expect(form.text).toContain('What shall it be?');
    expect(form.text).toContain('<code>book_flight</code> <bdi>(travel)</bdi> asks you');
    const done = await browser.post(url, { csrf: csrfOf(form.text), do: 'accept', 'q0.0': 'Ada' });
    expect([done.status, round.answers, round.by]).toEqual([
      200,
      { only: { action: 'accept', content: { name: 'Ada' } } },
      'page',
    ]);
    expect(done.text).toContain('Your answer has been sent');
    expect(done.text).toContain('return to your conversation');
  });

  it('says that Parley asks if it is an approval', async () => {
    const [question] = formRound(NAME).questions;
    const round = fakeRound({}, { questions: [{ ...question!, ask: { ...question!.ask, ofGateway: true } }] });
    const { url } = await serve(round);
    const { text } = await new FakeBrowser().open(url);
    expect(text).toContain('Parley asks you, before <code>book_flight</code> <bdi>(travel)</bdi> is called');
  });

  it('the link is not used up by link previews', async () => {
    const { url } = await serve(formRound(NAME));
    for (const method of ['GET', 'HEAD', 'GET']) {
      const looked = await new FakeBrowser().get(url, { method });
      expect([looked.status, looked.headers.getSetCookie()]).toEqual([200, []]);
      if (method === 'HEAD') expect(looked.text).toBe('');
    }
    expect((await new FakeBrowser().open(url)).text).toContain('What shall it be?');
  });

  it('works only in the browser that opened it, as often as needed', async () => {
    const { url } = await serve(formRound(NAME));
    const [ada, eve] = [new FakeBrowser(), new FakeBrowser()];
    await ada.open(url);
    expect((await ada.get(url)).text).toContain('What shall it be?');
    expect((await ada.open(url)).text).toContain('What shall it be?');
    expect(await eve.get(url)).toMatchObject({ status: 410 });
    expect(await eve.open(url)).toMatchObject({ status: 410 });
    expect([...eve.cookies]).toEqual([]);
    eve.cookies.set([...ada.cookies.keys()][0]!, 'x'.repeat(22));
    expect(await eve.get(url)).toMatchObject({ status: 410 });
  });

  it('works for one browser only, even if the system time jumps', async () => {
    let jumped = 0;
    const clock = { ...systemClock, now: () => Date.now() + jumped };
    const { url, rounds } = await serve(formRound(NAME), { clock });
    const [ada, eve] = [new FakeBrowser(), new FakeBrowser()];
    jumped = 3_600_000;
    expect((await ada.open(url)).text).toContain('What shall it be?');
    expect([...ada.cookies]).toHaveLength(1);
    expect(await eve.open(url)).toMatchObject({ status: 410 });
    jumped = 7_200_000;
    expect((await ada.get(url)).text).toContain('What shall it be?');
    rounds.clear();
    expect(await new FakeBrowser().get(url)).toMatchObject({ status: 410 });
  });

  it('followed again from another site, without its cookie, still leads to the form', async () => {
    const { url } = await serve(formRound(NAME));
    const [ada, eve] = [new FakeBrowser(), new FakeBrowser()];
    await ada.open(url);
    const crossSite = { headers: { 'sec-fetch-site': 'cross-site' } };
    expect((await new FakeBrowser().get(url, crossSite)).text).toContain('A question is waiting');
    expect((await ada.open(url)).text).toContain('What shall it be?');
    await eve.get(url, crossSite);
    expect(await eve.open(url)).toMatchObject({ status: 410 });
  });

  it('gives the same error if it is altered, unknown, expired, incomplete or from another gateway', async () => {
    const round = formRound(NAME);
    const { url, rounds } = await serve(round);
    const expired = fakeRound({});
    const { url: expiredUrl } = await serve(expired);
    expired.isOpen = false;
    const { url: foreign } = await serve(round);
    const unknown = await serve(formRound(NAME));
    unknown.rounds.clear();
    const token = new URL(url).searchParams.get('t')!;
    const middle = Math.floor(token.length / 2);
    const altered = token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
    const urls = [
      expiredUrl,
      unknown.url,
      ...[
        altered,
        token.slice(0, -2),
        `${token}A`,
        '',
        'x',
        'A'.repeat(5000),
        new URL(foreign).searchParams.get('t')!,
      ].map((one) => url.replace(token, one)),
      url.replace(/\?.*/, ''),
    ];
    const seen = await Promise.all(urls.flatMap((one) => [new FakeBrowser().get(one), new FakeBrowser().open(one)]));
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([410]));
    expect(new Set(seen.map(({ text }) => text)).size).toBe(1);
    expect(rounds.size).toBe(1);
  });

  it('works only for the principal of the round if browsers are identified', async () => {
    const { url } = await serve(formRound(NAME), { identify: ({ headers }) => headers['x-user'] as string });
    const [ada, eve, nobody] = [new FakeBrowser(), new FakeBrowser(), new FakeBrowser()];
    ada.headers = { 'x-user': 'ada' };
    eve.headers = { 'x-user': 'eve' };
    for (const one of [eve, nobody]) {
      expect(await one.get(url)).toMatchObject({ status: 410 });
      expect(await one.open(url)).toMatchObject({ status: 410 });
    }
    expect((await ada.open(url)).text).toContain('What shall it be?');
    eve.cookies.set(...[...ada.cookies][0]!);
    expect(await eve.get(url)).toMatchObject({ status: 410 });
  });

  it('keeps the path behind a proxy, with a cookie for https only', async () => {
    const round = formRound(NAME);
    const { page } = await serve(round, { baseUrl: () => 'https://example.com/gateway/' });
    const link = await page.link(round);
    expect(link).toMatch(/^https:\/\/example\.com\/gateway\/ask\?t=[\w-]+$/);
    const port = createPagePort({ pages: () => page.pages, log });
    closing.push(() => port.close());
    const url = (await port.url()) + link.slice('https://example.com/gateway'.length);
    const headers = { origin: `https://${new URL(url).host}` }; // as a browser sends it that reaches the proxy by this name
    const opened = await new FakeBrowser().post(url, { do: 'open' }, { redirect: 'manual', headers });
    expect(opened.headers.getSetCookie()[0]).toMatch(
      /^parley-ask-[0-9a-f]{16}=[\w-]{22}; Path=\/gateway\/ask; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    );
  });
});

describe('a form', () => {
  it('a form from another site is refused', async () => {
    const round = formRound(NAME);
    const sealer = createSealer();
    const { url } = await serve(round, { sealer });
    const other = await serve(formRound(NAME), { sealer });
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(url)).text);
    const foreign = csrfOf((await new FakeBrowser().open(other.url)).text);
    const values = { do: 'accept', 'q0.0': 'Eve' };
    const tries = [
      browser.post(url, values),
      browser.post(url, { ...values, csrf: '' }),
      browser.post(url, { ...values, csrf: `${csrf.slice(0, -1)}${csrf.endsWith('_') ? 'A' : '_'}` }),
      browser.post(url, { ...values, csrf: foreign }),
      browser.post(url, { ...values, csrf: new URL(url).searchParams.get('t')! }),
      browser.post(url, { ...values, csrf }, { headers: { origin: 'https://evil.example' } }),
      browser.post(url, { ...values, csrf }, { headers: { origin: 'null' } }),
      browser.post(url, { ...values, csrf }, { headers: { origin: 'http://127.0.0.1:1' } }),
      browser.post(url, { ...values, csrf }, { headers: { origin: `https://${new URL(url).host}` } }),
      browser.post(url, { ...values, csrf }, { headers: { 'sec-fetch-site': 'cross-site' } }),
      browser.get(url, { method: 'POST', body: new URLSearchParams({ ...values, csrf }) }),
      browser.post(url, { ...values, do: 'decline' }),
    ];
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual(tries.map(() => 403));
    expect([round.isOpen, round.answers]).toEqual([true, undefined]);
    expect(await browser.post(url, { ...values, csrf })).toMatchObject({ status: 200 });
  });

  it('a form of one browser cannot be sent by another', async () => {
    const round = formRound(NAME);
    const { url } = await serve(round);
    const csrf = csrfOf((await new FakeBrowser().open(url)).text);
    expect(await new FakeBrowser().post(url, { csrf, do: 'accept', 'q0.0': 'Eve' })).toMatchObject({ status: 410 });
    expect(round.isOpen).toBe(true);
  });

  it('sent twice counts once, and the browser sees it', async () => {
    const round = formRound(NAME);
    const { url } = await serve(round);
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(url)).text);
    await browser.post(url, { csrf, do: 'accept', 'q0.0': 'one' });
    const second = await browser.post(url, { csrf, do: 'accept', 'q0.0': 'two' });
    expect(second.status).toBe(409);
    expect(second.text).toContain('It was already answered');
    expect(round.answers).toEqual({ only: { action: 'accept', content: { name: 'one' } } });
    expect((await browser.get(url)).text).toContain('Your answer has been sent');
    expect(await new FakeBrowser().get(url)).toMatchObject({ status: 410 });
  });

  it('says if its question was answered elsewhere or is closed', async () => {
    const round = formRound(NAME);
    const { url, rounds } = await serve(round);
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(url)).text);
    await round.answer({}, 'relay');
    expect(await browser.post(url, { csrf, do: 'accept', 'q0.0': 'late' })).toMatchObject({ status: 409 });
    expect((await browser.get(url)).text).toContain('no longer open');
    rounds.clear();
    expect((await browser.get(url)).text).toContain('no longer open');
    expect(round.by).toBe('relay');
  });

  it('a form can be declined and cancelled empty', async () => {
    for (const [action, said] of [
      ['decline', 'You have declined'],
      ['cancel', 'You have cancelled'],
    ] as const) {
      const round = formRound(NAME);
      const { url } = await serve(round);
      const { text } = await new FakeBrowser().fill(url, {}, action);
      expect([round.answers, text]).toEqual([{ only: { action } }, expect.stringContaining(said)]);
    }
  });

  it('a form of a wrong type or too large is refused', async () => {
    const round = formRound(NAME);
    const { url } = await serve(round);
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(url)).text);
    const json = {
      method: 'POST',
      body: JSON.stringify({ do: 'accept', csrf }),
      headers: { origin: new URL(url).origin, 'content-type': 'application/json' },
    };
    expect(await browser.get(url, json)).toMatchObject({ status: 415 });
    const broken = { ...json, headers: { ...json.headers, 'content-type': 'multipart/form-data; boundary=x' } };
    expect(await browser.get(url, broken)).toMatchObject({ status: 415 });
    const large = { csrf, do: 'accept', 'q0.0': 'x'.repeat(1024 * 1024) };
    expect(await browser.post(url, large)).toMatchObject({ status: 413 });
    expect(await chunked(url, browser, 2 * 1024 * 1024)).toBe(413);
    expect(await new FakeBrowser().post(url, { do: 'open', more: 'x'.repeat(20_000) })).toMatchObject({ status: 413 });
    expect(round.isOpen).toBe(true);
  });

  it('accepts no other method and path', async () => {
    const { url } = await serve(formRound(NAME));
    const browser = new FakeBrowser();
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const got = await browser.get(url, { method });
      expect([got.status, got.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    }
    const { origin, search } = new URL(url);
    for (const path of ['/', '/ask/', '/ask/x', '/ASK', '//ask', '/ask%2f', '/%61sk', '/x/../ask/..', '/ask;x'])
      expect([path, await rawStatus(origin, path + search)]).toEqual([path, 404]);
    expect(await rawStatus(origin, `/ask${search}`, 'evil.example')).toBe(403);
  });
});

describe('every page', () => {
  it('every page has headers that allow no other resources', async () => {
    const { url } = await serve(formRound(NAME));
    const browser = new FakeBrowser();
    for (const { headers } of [await browser.get(url), await browser.open(url), await browser.get(`${url}x`)]) {
      const csp = headers.get('content-security-policy')!;
      expect(csp).toContain("default-src 'none'");
      expect(csp).toContain("frame-ancestors 'none'");
      expect(csp).not.toMatch(/unsafe|script-src|\*/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

/** A body of unknown length. */
function chunked(url: string, browser: FakeBrowser, bytes: number): Promise<number> {
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  const headers = { cookie, origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on('error', reject);
    request.write(Buffer.alloc(bytes, 'x'));
    request.end();
  });
}

/** Sends the exact path, which fetch would normalize. */
function rawStatus(origin: string, path: string, host?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const request = httpRequest({ hostname, port, path, headers: host === undefined ? {} : { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on('error', reject).end();
  });
}
