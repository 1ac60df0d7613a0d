// The complete path with real processes: a stdio client that cannot be asked, `parley wrap`, a server that asks, and a
// person with a browser.
import { afterAll, describe, expect, it } from 'vitest';
import { stdioWire } from '../helpers/line-wire.ts';
import { Home, PARLEY_DEMO } from '../helpers/parley.ts';
import { browserOfTests, chromiumPath } from './chromium.ts';

const { open } = browserOfTests();
const home = new Home();
afterAll(() => home[Symbol.dispose]());

describe.skipIf(chromiumPath === undefined)('a question through parley wrap', () => {
  it('a question through parley wrap is answered in a browser, and the call of a stdio client continues', async () => {
    await using parley = home.start(['wrap', '--', ...PARLEY_DEMO]);
    const client = stdioWire(parley.child);
    await client.initialize('2025-06-18');
    const asked = await client.call('book_table', {});
    const { text } = asked.result!.content![0]!;
    const link = /http:\/\/127\.0\.0\.1:\d+\/ask\?t=[\w-]+/.exec(text)![0];
    const handle = (asked.result as unknown as { _meta: Record<string, string> })._meta['mcp-parley/handle']!;
    const { page } = await open();
    await page.goto(link);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('A table for tonight').waitFor();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('20:00').check();
    await page.getByLabel('People').fill('3');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    const { result } = await client.call('parley_answer', { handle });
    expect(result!.content![0]!.text).toBe('Booked: 3 at 20:00 for Ada.');
    parley.child.stdin!.end(); // the page's port and the browser's connection do not keep the process alive
    expect(await parley.ended()).toBe(0);
  });
});
