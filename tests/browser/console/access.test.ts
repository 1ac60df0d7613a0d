// Access in the console: rules and what would happen if, keys, browsers and logins.
import { describe, expect, it } from 'vitest';
import { createServer } from '../../../src/_entries/index.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import { enter, log, picture, startGateway } from './console-gateway.ts';

const WIDE = { width: 1180, height: 860 };
const { open, closing } = browserOfTests();

const keyOf = (name: string) => ({ name, key: name.repeat(40).slice(0, 40) });
const RULES = [
  { tool: 'delete_*', principal: 'key:ci', effect: 'hide' },
  { tool: 'send_mail', when: '!args.to.endsWith("@example.com")', effect: 'ask' },
  { server: 'mail', marks: 'out' },
] as const;

function behind() {
  const ran: string[] = [];
  const mail = createServer({ name: 'mail', version: '1.0.0', log });
  for (const name of ['send_mail', 'delete_mail', 'read_mail']) mail.tool(name, {}, () => (ran.push(name), 'done'));
  const options = {
    servers: { mail },
    rules: RULES,
    auth: {
      keys: [
        { ...keyOf('laptop'), user: 'ann', scopes: ['mcp', 'mail'], groups: ['staff'] },
        { ...keyOf('ci'), scopes: ['mcp'], expires: '2020-01-01' },
      ],
    },
  };
  return { ran, options };
}

describe.skipIf(chromiumPath === undefined)('access in the console', () => {
  it.each(['light', 'dark'] as const)(
    'shows keys, browsers and rules, and says what would happen to a call without making it (%s)',
    async (colorScheme) => {
      const { ran, options } = behind();
      const served = await startGateway(closing, options, { authorization: `Bearer ${keyOf('laptop').key}` });
      const tab = await open({ viewport: WIDE, colorScheme });
      const { page } = tab;
      await enter(served, tab);
      const phone = await served.gateway.pair('ann');
      const other = await open({ viewport: WIDE });
      await other.page.goto(`${served.root}#code=${phone.code}`);
      await other.page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
      expect(await other.page.getByRole('link', { name: 'Access' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Access' }).click();
      const keys = page.getByRole('region', { name: 'API keys' });
      await keys.getByRole('row', { name: /laptop key:ann mcp, mail staff never/ }).waitFor();
      await keys.getByText('expired').waitFor();
      await page.getByLabel('Caller').fill('key:laptop');
      await page.getByLabel('Tool').fill('send_mail');
      await page.getByLabel('Arguments, as JSON').fill('{"to": "eve@example.org"}');
      await page.getByRole('button', { name: 'Judge' }).press('Enter');
      await page.getByText('A person is asked first.').waitFor();
      await page.getByText('all of its conditions hold: it decides').waitFor();
      expect(await violations(tab)).toEqual([]);
      if (colorScheme === 'light') await picture(tab, 'console-access');
      await page.getByLabel('Arguments, as JSON').fill('{"to": "bob@example.com"}');
      await page.getByRole('button', { name: 'Judge' }).click();
      await page.getByText('It is called.').waitFor();
      await page.getByLabel('Arguments, as JSON').fill('[');
      await page.getByRole('button', { name: 'Judge' }).click();
      await page.getByText('The arguments are not a JSON object.').waitFor();
      expect(ran).toEqual([]);
      const browsers = page.getByRole('region', { name: 'Paired browsers' });
      expect(await browsers.getByText('this one').count()).toBe(1);
      const theirs = browsers.getByRole('row', { name: /\bann\b/ });
      await theirs.getByRole('button', { name: /^Take/ }).click();
      await theirs.getByRole('button', { name: /^Really/ }).click();
      await theirs.waitFor({ state: 'detached' });
      await other.page.getByRole('heading', { name: 'Who is there?' }).waitFor();
      expect(await violations(tab)).toEqual([]);
      const real = tab.complaints.filter((one) => !one.includes('422')); // the refused arguments
      expect(real).toEqual([]);
      expect(await page.content()).not.toContain(keyOf('laptop').key);
    },
  );

  it('the page fits the width of a phone', async () => {
    const { options } = behind();
    const served = await startGateway(closing, options, { authorization: `Bearer ${keyOf('laptop').key}` });
    const tab = await open({ viewport: { width: 390, height: 844 } });
    await enter(served, tab);
    await tab.page.getByRole('link', { name: 'Access' }).click();
    await tab.page.getByRole('heading', { name: 'Rules' }).waitFor();
    expect(await tab.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violations(tab)).toEqual([]);
  });
});
