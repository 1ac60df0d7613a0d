// The distribution's Chromium, driven by playwright-core.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { hasTool } from '../helpers/tools.ts';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined if Chromium is not installed. `CHROMIUM` names another path. */
export const chromiumPath: string | undefined = findChromium();

function findChromium(): string | undefined {
  const path = [process.env['CHROMIUM'] ?? '', ...PATHS].find((one) => existsSync(one));
  if (path === undefined) hasTool('chromium'); // says how to get it
  return path;
}

function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface BrowserOfTests {
  /** A tab of its own, closed with the test. */
  open: (options?: BrowserContextOptions) => Promise<Tab>;
  /** What is closed after the test, the last first. */
  closing: (() => Promise<unknown>)[];
}

/** One browser for the tests of a file. Without a browser, its tests are skipped. */
export function browserOfTests(): BrowserOfTests {
  const closing: (() => Promise<unknown>)[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath !== undefined) browser = await launch();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return {
    closing,
    async open(options) {
      const tab = await openTab(browser!, options);
      closing.push(() => tab.context.close());
      return tab;
    },
  };
}

export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** axe cannot run without scripts, so it checks a copy of the rendered page. */
  readonly twin: Page | undefined;
  /** Messages of the browser's console, such as policy violations and script errors. */
  readonly complaints: string[];
  /** Every requested URL. */
  readonly requests: string[];
}

async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 900, height: 1000 }, ...options });
  context.setDefaultTimeout(120_000); // the machine may be busy with other tests
  const page = await context.newPage();
  const isScripted = options.javaScriptEnabled ?? true;
  const twin = isScripted ? undefined : await browser.newPage({ ...options, javaScriptEnabled: true });
  if (twin) context.on('close', () => void twin.close());
  const tab: Tab = { context, page, twin, complaints: [], requests: [] };
  page.on('console', (message) => tab.complaints.push(message.text()));
  page.on('pageerror', (error) => tab.complaints.push(error.message));
  page.on('dialog', (dialog) => tab.complaints.push(dialog.message()));
  page.on('request', (request) => tab.requests.push(request.url()));
  return tab;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations that axe finds, one line each. */
export async function violations({ page, twin }: Tab): Promise<string[]> {
  if (!twin) return runAxe(page);
  await twin.setContent(await page.content());
  return runAxe(twin);
}

function runAxe(page: Page): Promise<string[]> {
  const run = `axe.run(document).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ': ' + node.target.join(' ') + ' ' + node.failureSummary)))`;
  return page.evaluate(`${axeSource}; ${run}`);
}
