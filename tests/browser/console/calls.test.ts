// Calls in the console: the live table, its filters in the URL, and one call with both of its legs.
import { describe, expect, it } from 'vitest';
import { createServer } from '../../../src/_entries/index.ts';
import { filter } from '../../../src/_entries/middleware.ts';
import { until } from '../../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import { enter, log, picture, startGateway } from './console-gateway.ts';
import type { ConsoleGateway } from './console-gateway.ts';

const WIDE = { width: 1180, height: 860 };
const { open, closing } = browserOfTests();

/** A server behind HTTP of an older era, and a step that changes what goes there. */
async function behind(): Promise<ConsoleGateway> {
  const weather = createServer({ name: 'weather', version: '2.0.0', log });
  weather.tool('forecast', { description: 'The weather.', annotations: { readOnlyHint: true } }, ({ city, units }) => ({
    content: [{ type: 'text', text: `Rain in ${String(city)}, 7 degrees ${String(units)}` }],
  }));
  weather.tool('fail', { description: 'Fails.', annotations: { readOnlyHint: true } }, () => {
    throw new Error('no station answers');
  });
  const listening = await weather.listen({ port: 0 });
  closing.push(() => listening.close());
  const units = {
    name: 'units',
    methods: ['tools/call'],
    handle(exchange: { params: { arguments?: object } }, next: () => unknown) {
      exchange.params = { ...exchange.params, arguments: { ...exchange.params.arguments, units: 'celsius' } };
      return next();
    },
  };
  return startGateway(closing, {
    servers: { weather: { server: listening.url, era: 'handshake' } },
    steps: [filter({ deny: ['secret_*'] }), units],
  });
}

describe.skipIf(chromiumPath === undefined)('the calls in the console', () => {
  it.each(['light', 'dark'] as const)(
    'appear live, can be filtered, and one shows both of its legs (%s)',
    async (colorScheme) => {
      const served = await behind();
      const permissions = ['clipboard-read', 'clipboard-write'];
      const tab = await open({ viewport: WIDE, colorScheme, permissions });
      const { page } = tab;
      await enter(served, tab);
      await page.getByRole('link', { name: 'Calls' }).click();
      await page.getByText('No call yet.').waitFor();
      expect(await violations(tab)).toEqual([]);
      for (const city of ['Oslo', 'Lisbon', 'Berlin']) await served.client.callTool('forecast', { city });
      await served.client.callTool('fail');
      await page.getByRole('cell', { name: 'tool error' }).waitFor();
      await page.getByText('4 calls', { exact: true }).waitFor();
      await page.getByText('calls in the last hour').waitFor();
      expect(await violations(tab)).toEqual([]);
      if (colorScheme === 'light') await picture(tab, 'console-calls');
      await page.getByLabel('Outcome').selectOption('Failed or refused');
      await page.getByText('1 of 4 calls').waitFor();
      await page.getByLabel('Find').fill('forecast');
      await page.getByText('No call is like that.').waitFor();
      await page.getByLabel('Outcome').selectOption('Every outcome');
      await page.getByText('3 of 4 calls').waitFor();
      expect(page.url()).toContain('find=forecast');
      await page.reload();
      await page.getByText('3 of 4 calls').waitFor();
      await page.getByRole('link', { name: 'forecast' }).first().focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
      const server = page.getByRole('region', { name: 'Between the gateway and the server' });
      const client = page.getByRole('region', { name: 'Between the client and the gateway' });
      await server.getByText('"city": "Lisbon"').waitFor();
      expect(await server.locator('mark').first().textContent()).toContain('"units": "celsius"');
      await client.getByText('"city": "Lisbon"').waitFor();
      await client.getByText('Rain in Lisbon, 7 degrees celsius').waitFor();
      const revisions = [await client.locator('h2').textContent(), await server.locator('h2').textContent()];
      expect(revisions.map((one) => /\d{4}-\d\d-\d\d/.exec(one!)?.[0])).toEqual(['2026-07-28', '2025-11-25']);
      await client.getByRole('button', { name: 'Copy as parley call' }).click();
      await client.getByText('Copied').waitFor();
      const copied = String(await page.evaluate('navigator.clipboard.readText()'));
      expect(copied).toBe(`parley call 'forecast' '{"city":"Lisbon"}'`);
      expect(await violations(tab)).toEqual([]);
      if (colorScheme === 'light') await picture(tab, 'console-call');
      await client.getByRole('button', { name: 'Repeat this call' }).click();
      await client.getByText('It is not known that this tool only reads.').waitFor();
      expect(await violations(tab)).toEqual([]);
      await client.getByRole('button', { name: 'Run it again' }).click();
      await client.getByRole('link', { name: 'these calls' }).waitFor();
      await page.getByRole('link', { name: 'All calls' }).click();
      await page.getByText('4 of 5 calls').waitFor();
      const real = tab.complaints.filter((one) => !one.includes('428')); // it asked first
      expect(real).toEqual([]);
    },
  );

  it('a table of many calls has only rows that are in sight, and misses none', async () => {
    const served = await behind();
    const tab = await open({ viewport: WIDE });
    const { page } = tab;
    await enter(served, tab);
    await page.getByRole('link', { name: 'Calls' }).click();
    for (let round = 0; round < 30; round++)
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => served.client.callTool('forecast', { city: `${round}-${index}` })),
      );
    await page.getByText('300 calls', { exact: true }).waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(60);
    const region = page.getByRole('region', { name: 'Calls' });
    await region.hover();
    await page.mouse.wheel(0, 100_000);
    await until('the first call', async () =>
      (await page.locator('[data-row="299"]').count()) === 1 ? true : undefined,
    );
    expect(await violations(tab)).toEqual([]);
  });

  it('a call that a person has refused counts as declined, not as failed', async () => {
    const served = await startGateway(closing);
    const tab = await open({ viewport: WIDE });
    const { page } = tab;
    await enter(served, tab);
    const { _meta } = await served.client.callTool('files__write_file', { path: 'a' });
    await page.getByRole('button', { name: 'No' }).click();
    await page.getByText('Nothing waits. Calls that need').waitFor();
    await served.client.callTool('parley_answer', { handle: String(_meta?.['mcp-parley/handle']) });
    await page.getByRole('link', { name: 'Calls' }).click();
    const declined = page.getByRole('cell', { name: 'declined' });
    await until('both calls', async () => ((await declined.count()) === 2 ? true : undefined));
    expect(await declined.first().locator('.calm').count()).toBe(1);
    await page.getByText('0 failed').waitFor();
    await page
      .getByRole('link', { name: /write_file$/ })
      .first()
      .click();
    await page.getByText('Not approved').waitFor();
    await page.getByText('the user said no').first().waitFor();
    expect(await violations(tab)).toEqual([]);
  });

  it('the table and a call fit the width of a phone', async () => {
    const served = await behind();
    const tab = await open({ viewport: { width: 390, height: 844 } });
    const { page } = tab;
    await enter(served, tab);
    await page.getByRole('link', { name: 'Calls' }).click();
    for (const city of ['Oslo', 'Lisbon', 'Berlin']) await served.client.callTool('forecast', { city });
    await served.client.callTool('fail');
    await page.getByRole('cell', { name: 'tool error' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(5);
    expect(
      await page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.tall'))",
      ),
    ).toBe(true);
    expect(await violations(tab)).toEqual([]);
    await picture(tab, 'console-calls-narrow');
    await page.getByRole('link', { name: 'forecast' }).first().click();
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violations(tab)).toEqual([]);
  });
});
