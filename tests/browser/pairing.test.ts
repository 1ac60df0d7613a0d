// Pairs a real Chromium with a gateway and approves a call in it, while another browser with the same link gets nowhere.
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createGateway, createLog, createServer } from '../../src/_entries/index.ts';
import { approve } from '../../src/_entries/middleware.ts';
import { startCompany } from '../helpers/company.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { until } from '../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from './chromium.ts';
import { toSmallPng } from './small-png.ts';

const FOLDER = new URL('../../docs/images/', import.meta.url);
const VIEWPORT = { viewport: { width: 760, height: 600 } };
const { open, closing } = browserOfTests();

async function behind() {
  const links: string[] = [];
  const log = createLog({ level: 'silent' });
  const notes = createServer({ name: 'notes', version: '1', log });
  notes.tool('delete_note', { annotations: { destructiveHint: true } }, ({ name }) => `Deleted ${String(name)}`);
  const ask = { notify: ({ link }: { link: string }) => void links.push(link) };
  const gateway = createGateway({ servers: { notes }, steps: [approve()], ask, log });
  closing.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const client = await connected(url);
  closing.push(() => client.close());
  const { _meta } = await client.callTool('delete_note', { name: 'ideas', token: 'whole' });
  const handle = (_meta as Record<string, string>)['mcp-parley/handle'];
  return {
    gateway,
    link: await until('the link', () => links[0]),
    result: () => textOf(client, 'parley_answer', { handle }),
  };
}

describe.skipIf(chromiumPath === undefined)('pairing', () => {
  it.each(['light', 'dark'] as const)('lets a person approve in the paired browser alone (%s)', async (colorScheme) => {
    const { gateway, link, result } = await behind();
    const { code } = await gateway.pair();
    const tab = await open({ ...VIEWPORT, colorScheme });
    const { page } = tab;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Pair this browser' }).waitFor();
    expect(await page.content()).not.toContain('ideas');
    expect(await violations(tab)).toEqual([]);
    const path = new URL('ask-pair.png', FOLDER).pathname;
    const isKept = process.env['UPDATE_DOCS'] !== undefined && colorScheme === 'light';
    const taken = await page.screenshot({ fullPage: true });
    if (isKept) writeFileSync(path, toSmallPng(taken));
    expect(existsSync(path)).toBe(true);
    await page.getByLabel('Code').fill('AAAA-AAAA-AAAA');
    await page.getByRole('button', { name: 'Pair this browser' }).click();
    await page.getByRole('alert').waitFor();
    expect(await violations(tab)).toEqual([]);
    await page.getByLabel('Code').fill(code.toLowerCase());
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('token: "whole"').waitFor();
    const other = await open(VIEWPORT);
    await other.page.goto(link);
    await other.page.getByRole('heading', { name: 'Pair this browser' }).waitFor();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(await result()).toBe('Deleted ideas');
    await page.goto(link.replace(/\?.*/, ''));
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    expect(await violations(tab)).toEqual([]);
  });

  it('pairing is done by one button where the link has the code', async () => {
    const { gateway, link, result } = await behind();
    const { page } = await open(VIEWPORT);
    await page.goto(`${link}&c=${(await gateway.pair()).code}`);
    await page.getByRole('button', { name: 'Pair this browser' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'No' }).click();
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(await result()).toContain('not approved: the user said no');
  });

  it.each(['light', 'dark'] as const)(
    'pairing is not needed by who logs in at the issuer (%s)',
    async (colorScheme) => {
      const company = await startCompany('issuer', { closing, hasSignIn: true });
      const client = await company.clientOf('ada');
      const { _meta } = await client.callTool('wipe', { what: 'disk' });
      const tab = await open({ ...VIEWPORT, colorScheme });
      const { page } = tab;
      await page.goto(`${company.base}/ask`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(await violations(tab)).toEqual([]);
      const path = new URL('ask-login.png', FOLDER).pathname;
      const isKept = process.env['UPDATE_DOCS'] !== undefined && colorScheme === 'light';
      const taken = await page.screenshot({ fullPage: true });
      if (isKept) writeFileSync(path, toSmallPng(taken));
      expect(existsSync(path)).toBe(true);
      await page.getByRole('button', { name: 'Log in at' }).click();
      await page.getByLabel('Name').fill('ada');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'wipe' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('what: "disk"').waitFor();
      await page.getByRole('button', { name: 'Yes' }).click();
      await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
      const handle = String(_meta?.['mcp-parley/handle']);
      expect(await textOf(client, 'parley_answer', { handle })).toBe('wiped disk');
      expect(company.ran).toEqual(['disk']);
      // And out again.
      await page.goto(`${company.base}/ask`);
      await page.getByText('You are logged in as ada.').waitFor();
      expect(await violations(tab)).toEqual([]);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'You are logged out' }).waitFor();
      expect(await violations(tab)).toEqual([]);
      await page.goto(`${company.base}/ask`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect((await page.context().cookies()).filter(({ name }) => name.includes('parley-visitor'))).toEqual([]);
    },
  );
});
