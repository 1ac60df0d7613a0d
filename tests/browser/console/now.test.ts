// The console in a real Chromium: the way in, and what is the case now. A person answers in the list, by mouse or by keyboard alone.
import { describe, expect, it } from 'vitest';
import { startCompany } from '../../helpers/company.ts';
import { textOf } from '../../helpers/fixture-server.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import type { Tab } from '../chromium.ts';
import { enter, picture, startGateway } from './console-gateway.ts';

const WIDE = { width: 1180, height: 860 };
const NARROW = { width: 390, height: 844 };
const { open, closing } = browserOfTests();

describe.skipIf(chromiumPath === undefined)('the console', () => {
  it('a browser that nobody has let in sees how to get in, and a code opens it', async () => {
    const { gateway, root } = await startGateway(closing);
    const tab = await open({ viewport: WIDE });
    const { page } = tab;
    await page.goto(root);
    await page.getByRole('heading', { name: 'Who is there?' }).waitFor();
    await page.getByText('parley open').waitFor();
    expect(await violations(tab)).toEqual([]);
    await page.getByLabel('Code').fill('AAAA-AAAA-AAAA');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await violations(tab)).toEqual([]);
    await page.getByLabel('Code').fill((await gateway.pair()).code.toLowerCase());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Forget this browser' }).click();
    await page.getByRole('heading', { name: 'Who is there?' }).waitFor();
    expect(tab.complaints.filter((one) => !one.includes('403'))).toEqual([]); // the wrong code
  });

  it.each([
    { name: 'console-now', viewport: WIDE, colorScheme: 'light' },
    { name: 'console-now-dark', viewport: WIDE, colorScheme: 'dark' },
    { name: 'console-now-narrow', viewport: NARROW, colorScheme: 'light' },
  ] as const)('calls that wait appear without a reload and are answered in the list: $name', async (look) => {
    const { viewport, colorScheme, name } = look;
    const served = await startGateway(closing);
    const tab = await open({ viewport, colorScheme });
    const { page } = tab;
    await enter(served, tab);
    await page.getByText('Nothing waits. Calls that need').waitFor();
    expect(await violations(tab)).toEqual([]);
    const held = await served.client.callTool('files__write_file', {
      path: 'notes/today.md',
      content: 'Buy milk\nand bread',
    });
    const other = await served.client.callTool('git__delete_branch', { branch: 'release/2.4', force: true });
    const first = page.getByRole('article', { name: 'files__write_file' });
    await first.getByText('content: "Buy milk\\nand bread"').waitFor();
    expect(await first.textContent()).not.toContain('Yes, call it.');
    const second = page.getByRole('article', { name: 'git__delete_branch' });
    await second.getByText('force: true').waitFor();
    await page.getByText('failing').waitFor();
    await page.getByText('Could not locate the bindings file').waitFor();
    expect(await page.title()).toBe('(2) Now · parley');
    expect(await violations(tab)).toEqual([]);
    await picture(tab, name);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await first.getByRole('button', { name: 'Yes' }).click();
    await first.waitFor({ state: 'detached' });
    await second.getByRole('button', { name: 'No' }).click();
    await page.getByText('Nothing waits. Calls that need').waitFor();
    expect(await textOf(served.client, 'parley_answer', { handle: handleIn(held) })).toBe('Wrote notes/today.md');
    expect(await textOf(served.client, 'parley_answer', { handle: handleIn(other) })).toContain('the user said no');
    expect(served.ran).toEqual(['notes/today.md']);
    expect(tab.complaints).toEqual([]);
  });

  it('a person who uses the keyboard alone reaches a question and answers it', async () => {
    const served = await startGateway(closing);
    const tab = await open({ viewport: WIDE, reducedMotion: 'reduce' });
    await enter(served, tab);
    const held = await served.client.callTool('git__delete_branch', { branch: 'old' });
    const { page } = tab;
    await page.getByRole('button', { name: 'No' }).waitFor();
    const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>;
    for (let steps = 0; (await focused()) !== 'No' && steps < 30; steps++) await page.keyboard.press('Tab');
    const ring = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(ring).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits. Calls that need').waitFor();
    expect(await textOf(served.client, 'parley_answer', { handle: handleIn(held) })).toContain('the user said no');
    expect(served.ran).toEqual([]);
  });

  it('people who log in at the pages see what is theirs and answer it, and nobody else does', async () => {
    const company = await startCompany('issuer', { closing, hasSignIn: true, console: true });
    const ada = await company.clientOf('ada');
    const { _meta } = await ada.callTool('wipe', { what: 'disk' });
    const logIn = async (who: string): Promise<Tab> => {
      const tab = await open({ viewport: WIDE });
      await tab.page.goto(`${company.base}/`);
      await tab.page.getByRole('button', { name: 'Log in at' }).click();
      await tab.page.getByLabel('Name').fill(who);
      await tab.page.getByRole('button', { name: 'Sign in' }).click();
      await tab.page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
      return tab;
    };
    const eve = await logIn('eve');
    await eve.page.getByText('Nothing waits. Calls that need').waitFor();
    expect(await eve.page.content()).not.toContain('disk');
    const { page } = await logIn('ada');
    await page.getByText('what: "disk"').waitFor();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('Nothing waits. Calls that need').waitFor();
    const handle = String(_meta?.['mcp-parley/handle']);
    expect(await textOf(ada, 'parley_answer', { handle })).toBe('wiped disk');
    await page.getByRole('link', { name: 'Calls' }).click();
    await page.getByRole('link', { name: 'parley_answer' }).click();
    await page.getByRole('region', { name: 'Between the client and the gateway' }).getByText('wiped disk').waitFor();
    expect(await page.getByRole('region', { name: 'Between the gateway and the server' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Who is there?' }).waitFor();
  });
});

function handleIn({ _meta }: { _meta?: unknown }): string {
  return String((_meta as Record<string, unknown>)['mcp-parley/handle']);
}
