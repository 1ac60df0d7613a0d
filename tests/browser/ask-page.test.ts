// Tests the page in a real Chromium: with and without scripts (it has none), light and dark, by keyboard only, and
// against pages of other sites.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { FakeRound } from '../../src/people/page/fake-round.contract.ts';
import { fakeRound } from '../../src/people/page/fake-round.contract.ts';
import { browserOfTests, chromiumPath, violations } from './chromium.ts';
import type { Tab } from './chromium.ts';
import { approvalRound, bookingRound, everythingRound, serveRound, urlRound } from './served-page.ts';

const { open: openTab, closing } = browserOfTests();

async function open(
  round: FakeRound,
  options: BrowserContextOptions = {},
): Promise<Tab & { url: string; round: FakeRound }> {
  const served = await serveRound(round);
  closing.push(() => served.close());
  const tab = await openTab(options);
  await tab.page.goto(served.url);
  return { ...tab, ...served };
}

async function openForm(round: FakeRound, options: BrowserContextOptions = {}) {
  const opened = await open(round, options);
  await opened.page.getByRole('button', { name: 'Continue' }).click();
  return opened;
}

describe.skipIf(chromiumPath === undefined)('the page', () => {
  describe.each([
    { colorScheme: 'light', javaScriptEnabled: true },
    { colorScheme: 'dark', javaScriptEnabled: true },
    { colorScheme: 'light', javaScriptEnabled: false },
    { colorScheme: 'dark', javaScriptEnabled: false },
  ] as const)('under %j', (options) => {
    it('the page has no accessibility violation at any stage', async () => {
      const tab = await open(bookingRound(), options);
      const { page, complaints, requests, url } = tab;
      const stages = [['waiting', await violations(tab)]];
      await page.getByRole('button', { name: 'Continue' }).click();
      stages.push(['form', await violations(tab)]);
      await page.getByRole('button', { name: 'Send answer' }).click();
      await page.getByRole('alert').waitFor();
      stages.push(['errors', await violations(tab)]);
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByRole('heading', { name: 'You have declined' }).waitFor();
      stages.push(['done', await violations(tab)]);
      await page.goto(`${url}x`);
      stages.push(['gone', await violations(tab)]);
      expect(stages.filter(([, found]) => found!.length > 0)).toEqual([]);
      expect(new Set(requests.map((one) => new URL(one).origin))).toEqual(new Set([new URL(url).origin]));
      expect(complaints.filter((one) => !/status of 4\d\d/.test(one))).toEqual([]);
    });

    it('the page has no accessibility violation with any kind of field and question', async () => {
      for (const round of [everythingRound(), urlRound(), approvalRound()]) {
        expect(await violations(await openForm(round, options))).toEqual([]);
      }
      const tab = await openForm(everythingRound(), options);
      const { page } = tab;
      await page.getByRole('button', { name: 'Send answer' }).click();
      await page.getByRole('alert').waitFor();
      expect(await violations(tab)).toEqual([]);
    });
  });

  it('the page can be filled in by keyboard alone, without scripts', async () => {
    const { page, round } = await open(bookingRound(), { javaScriptEnabled: false });
    const { keyboard } = page;
    await tabTo(page.getByRole('button', { name: 'Continue' }));
    await keyboard.press('Enter');
    await page.getByText('Who is travelling').waitFor();
    await tabTo(page.getByLabel('Name'));
    await keyboard.type('Ada Lovelace');
    await tabTo(page.getByLabel('E-mail'));
    await keyboard.type('ada@example.com');
    await tabTo(page.getByLabel('Travellers'));
    await keyboard.type('2');
    await tabTo(page.getByLabel('Day of departure'));
    await keyboard.type('01012028');
    await tabTo(page.getByLabel('Economy'));
    await keyboard.press('ArrowDown');
    for (const meal of ['Breakfast', 'Dinner']) {
      await tabTo(page.getByLabel(meal));
      await keyboard.press('Space');
    }
    await tabTo(page.getByLabel('Yes'));
    await keyboard.press('Space');
    await tabTo(page.getByRole('button', { name: 'Send answer' }));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    const content = { name: 'Ada Lovelace', email: 'ada@example.com', travellers: 2, day: '2028-01-01' };
    expect(round.answers).toEqual({
      book: {
        action: 'accept',
        content: { ...content, class: 'biz', meals: ['Breakfast', 'Dinner'], insurance: true },
      },
    });
  });

  it('focuses the problems, keeps the entries, and links to each field', async () => {
    const { page, round } = await openForm(bookingRound());
    await page.getByLabel('Name').fill('A');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Travellers').fill('12');
    await page.getByLabel('Business').check();
    await page.getByRole('button', { name: 'Send answer' }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await alert.getByRole('link').allInnerTexts()).toEqual([
      'Name: Use at least 2 characters.',
      'Travellers: This must be at most 9.',
      'Day of departure: This needs an answer.',
      'Travel insurance: This needs an answer.',
    ]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('q0.0');
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com');
    expect(await page.getByLabel('Business').isChecked()).toBe(true);
    const described = await page.getByLabel('Name').getAttribute('aria-describedby');
    expect(described?.split(' ')).toContain('q0.0-error');
    await page.keyboard.type('da');
    await page.getByLabel('Travellers').fill('3');
    await page.getByLabel('Day of departure').fill('2028-01-31');
    await page
      .getByRole('group', { name: 'Travel insurance' })
      .or(page.getByRole('radiogroup', { name: 'Travel insurance' }))
      .getByLabel('No')
      .check();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(round.answers!['book']!.content).toMatchObject({ travellers: 3, insurance: false });
  });

  it('accepts every kind of field, with a secret and a file', async () => {
    const { page, round } = await openForm(everythingRound(), { javaScriptEnabled: false });
    await page.getByLabel('Letter').fill('Dear all,\n\nhello.');
    await page.getByLabel('Website').fill('https://example.com');
    await page.getByLabel('Interview', { exact: false }).first().fill('2028-01-31T10:30');
    await page.getByLabel('Time zone of “Interview”').selectOption('+01:00');
    await page.getByLabel('Country').selectOption('Portugal');
    await page.getByLabel('Hourly wage').fill('31.5');
    await page.getByLabel('Access token').fill('s3cret');
    await page
      .getByLabel('Curriculum vitae')
      .setInputFiles({ name: 'cv.txt', mimeType: 'text/plain', buffer: Buffer.from('I can.') });
    await page.getByLabel('Anything else').fill('{"dog": true}');
    await page.getByLabel('I have done it').check();
    await page.getByLabel('I do not want to answer this question').last().check();
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(round.answers).toEqual({
      more: {
        action: 'accept',
        content: {
          letter: 'Dear all,\n\nhello.',
          site: 'https://example.com',
          at: '2028-01-31T10:30:00+01:00',
          country: 'Portugal',
          pay: 31.5,
          token: 's3cret',
          extra: { dog: true },
          cv: {
            name: 'cv.txt',
            mimeType: 'text/plain',
            data: Buffer.from('I can.').toString('base64'),
          },
        },
      },
      sign: { action: 'accept' },
      newsletter: { action: 'decline' },
    });
  });

  it('asks for one yes or no with two buttons', async () => {
    const { page, round } = await open(approvalRound(), { javaScriptEnabled: false });
    await tabTo(page.getByRole('button', { name: 'Continue' }));
    await page.keyboard.press('Enter');
    const buttons = page.getByRole('group', { name: 'Allow this call' });
    await buttons.waitFor();
    await tabTo(buttons.getByRole('button', { name: 'No' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(round.answers).toEqual({ approve: { action: 'accept', content: { allow: false } } });
  });

  it('fits a narrow screen', async () => {
    for (const round of [bookingRound(), everythingRound(), urlRound()]) {
      const { page } = await openForm(round, { viewport: { width: 320, height: 640 } });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    }
  });

  it('speaks the language of the browser', async () => {
    const { page } = await open(bookingRound(), { locale: 'de-DE' });
    await page.getByRole('button', { name: 'Weiter' }).click();
    await page.getByRole('button', { name: 'Antwort senden' }).click();
    await page.getByRole('heading', { name: /an 4 Stellen/ }).waitFor();
  });

  it('shows a hostile question as text', async () => {
    const trick = `${'x'.repeat(500)}<img src=x onerror=alert(1)><script>alert(2)</script></textarea></style><style>*{display:none}</style>`;
    const properties = {
      [trick]: { type: 'string', title: trick, description: trick, default: `${trick}\n` },
      pick: { type: 'string', enum: [trick], title: trick },
      list: { type: 'string', enum: Array.from({ length: 9 }, (_, index) => `${trick}${index}`) },
    };
    const about = { tool: trick, server: trick, client: trick };
    const round = fakeRound(
      { [trick]: { message: trick, requestedSchema: { type: 'object', properties } } },
      { about },
    );
    const tab = await openForm(round, { viewport: { width: 320, height: 640 } });
    const { page, complaints, requests, url } = tab;
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect(await page.locator('.message').innerText()).toBe(trick);
    expect(await page.locator('script, img').count()).toBe(0);
    expect(complaints).toEqual([]);
    expect(new Set(requests.map((one) => new URL(one).origin))).toEqual(new Set([new URL(url).origin]));
    expect(await violations(tab)).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)('another site', () => {
  /** A page on another host name, which is another site to a browser. */
  async function serveSite(body: string): Promise<string> {
    const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return `http://localhost:${(server.address() as AddressInfo).port}`;
  }

  it('another site can link to the page, more than once', async () => {
    const served = await serveRound(bookingRound());
    closing.push(() => served.close());
    const { page } = await openTab();
    const site = await serveSite(`<a href="${served.url}">link</a>`);
    for (let times = 0; times < 2; times++) {
      await page.goto(site);
      await page.getByRole('link').click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('Who is travelling').waitFor();
    }
    const other = await openTab();
    await other.page.goto(site);
    await other.page.getByRole('link').click();
    await other.page.getByRole('button', { name: 'Continue' }).click();
    await other.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  });

  it('another site cannot submit the form, even with all its values', async () => {
    const { page, url, round } = await openForm(approvalRound());
    const csrf = await page.locator('input[name=csrf]').inputValue();
    const site = await serveSite(
      `<form method="post" action="${url}"><input name="csrf" value="${csrf}"><input name="q0.0" value="true"><button name="do" value="accept">win</button></form>`,
    );
    await page.goto(site);
    const [response] = await Promise.all([
      page.waitForResponse((one) => one.request().method() === 'POST'),
      page.getByRole('button').click(),
    ]);
    expect([response.status(), round.isOpen]).toEqual([403, true]);
  });

  it('another site cannot show the page in a frame', async () => {
    const { page, url, complaints } = await openForm(bookingRound());
    await page.goto(await serveSite(`<iframe src="${url}"></iframe>`));
    await expect.poll(() => complaints.join('\n'), { timeout: 30_000 }).toMatch(/frame-ancestors|X-Frame-Options/i);
    expect(await page.frames().at(-1)!.locator('button').count()).toBe(0);
  });
});

function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.id');
}

/** Presses Tab as often as needed. */
async function tabTo(target: Locator): Promise<void> {
  for (let times = 0; times < 12; times++) {
    await target.page().keyboard.press('Tab');
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
  }
  throw new Error(`Not reached by Tab: ${target.toString()}`);
}
