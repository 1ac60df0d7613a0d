// The screenshots in docs/images. `UPDATE_DOCS=1` takes new ones; otherwise the test only checks that they can be
// taken, because fonts differ between machines.
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { browserOfTests, chromiumPath } from './chromium.ts';
import { approvalRound, bookingRound, everythingRound, serveRound, urlRound } from './served-page.ts';
import { toSmallPng } from './small-png.ts';

const FOLDER = new URL('../../docs/images/', import.meta.url);
const { open, closing } = browserOfTests();

const NARROW = { width: 360, height: 780 };
const WIDE = { width: 760, height: 600 };

const PICTURES = [
  { name: 'ask-approve', round: approvalRound, viewport: WIDE },
  { name: 'ask-form', round: bookingRound, viewport: WIDE },
  { name: 'ask-form-dark', round: bookingRound, viewport: WIDE, colorScheme: 'dark' },
  { name: 'ask-errors', round: bookingRound, viewport: WIDE, press: 'Send answer', colorScheme: 'dark' },
  { name: 'ask-url', round: urlRound, viewport: WIDE },
  { name: 'ask-several-narrow', round: everythingRound, viewport: NARROW },
] as const;

describe.skipIf(chromiumPath === undefined)('a picture of the page', () => {
  it.each(PICTURES)('a picture of the page is taken: $name', async ({ name, round, viewport, ...rest }) => {
    const served = await serveRound(round());
    closing.push(() => served.close());
    const { colorScheme = 'light', press } = rest as { colorScheme?: 'dark'; press?: string };
    const { page } = await open({ viewport, colorScheme });
    await page.goto(served.url);
    await page.getByRole('button', { name: 'Continue' }).click();
    if (press !== undefined) await page.getByRole('button', { name: press }).click();
    await page.locator('footer, h1').last().waitFor();
    const path = new URL(`${name}.png`, FOLDER).pathname;
    const picture = await page.screenshot({ fullPage: true });
    if (process.env['UPDATE_DOCS']) writeFileSync(path, toSmallPng(picture));
    expect(picture.length).toBeGreaterThan(1000);
    expect(existsSync(path)).toBe(true);
  });
});
