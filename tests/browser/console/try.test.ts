// Trying a tool in the console: a form from its schema, and the call goes through rules and approvals as that of any client.
import { describe, expect, it } from 'vitest';
import { createServer } from '../../../src/_entries/index.ts';
import { approve, filter } from '../../../src/_entries/middleware.ts';
import { until } from '../../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import { enter, log, startGateway } from './console-gateway.ts';

const { open, closing } = browserOfTests();

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where.' },
    days: { type: 'integer' },
    units: { enum: ['celsius', 'kelvin'] },
    isLong: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    more: { type: 'object' },
  },
  required: ['city'],
} as const;

describe.skipIf(chromiumPath === undefined)('a tool that is tried in the console', () => {
  it.each([
    ['light', { width: 1180, height: 860 }],
    ['dark', { width: 390, height: 844 }],
  ] as const)(
    'a tool is called with what was filled in, a dangerous one after a yes, and a refused one says why (%s)',
    async (colorScheme, viewport) => {
      const ran: string[] = [];
      const weather = createServer({ name: 'weather', version: '1', log });
      weather.tool('forecast', { input: SCHEMA }, (args) => JSON.stringify(args));
      weather.tool('wipe', { annotations: { destructiveHint: true } }, () => (ran.push('wipe'), 'wiped'));
      weather.tool('fail', {}, () => Promise.reject(new Error('no station')));
      weather.tool('hidden', {}, () => 'x');
      const served = await startGateway(closing, {
        servers: { weather },
        steps: [filter({ deny: ['hidden'] }), approve({ when: ['weather__wipe'] })],
      });
      const tab = await open({ viewport, colorScheme });
      const { page } = tab;
      await enter(served, tab);
      await page.getByRole('link', { name: 'Tools' }).click();
      await page.locator('summary', { hasText: 'forecast' }).press('Enter');
      const form = page.getByRole('form', { name: 'Try forecast' });
      await form.getByLabel('city').fill('Oslo');
      await form.getByLabel('days').fill('many');
      await form.getByRole('button', { name: 'Try it' }).press('Enter');
      await form.getByRole('alert').getByText('days: this is not a number.').waitFor();
      expect(await violations(tab)).toEqual([]);
      await form.getByLabel('days').fill('3');
      await form.getByLabel('units').selectOption('kelvin');
      await form.getByLabel('isLong').selectOption('false');
      await form.getByLabel('tags').fill('a\nb');
      await form.getByLabel('more').fill('{"deep": [1]}');
      await form.getByRole('button', { name: 'Try it' }).click();
      await form.getByText('It may change something.').waitFor();
      expect(await violations(tab)).toEqual([]);
      await form.getByRole('button', { name: 'Run it' }).click();
      const sent = { city: 'Oslo', days: 3, units: 'kelvin', isLong: false, tags: ['a', 'b'], more: { deep: [1] } };
      const answer = form.locator('pre');
      await answer.waitFor();
      const { content } = JSON.parse((await answer.textContent())!) as { content: { text: string }[] };
      expect(JSON.parse(content[0]!.text)).toEqual(sent);
      expect(await violations(tab)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.locator('summary', { hasText: 'fail' }).press('Enter');
      await page.getByRole('form', { name: 'Try fail' }).getByRole('button', { name: 'Try it' }).click();
      await page.getByRole('form', { name: 'Try fail' }).getByRole('button', { name: 'Run it' }).click();
      await page.getByRole('form', { name: 'Try fail' }).getByText('no station').waitFor();
      await page.locator('summary', { hasText: 'hidden' }).press('Enter');
      expect(await page.getByRole('form', { name: 'Try hidden' }).count()).toBe(0);
      await page.locator('summary', { hasText: 'wipe' }).press('Enter');
      const dangerous = page.getByRole('form', { name: 'Try wipe' });
      await dangerous.getByRole('button', { name: 'Try it' }).click();
      await dangerous.getByRole('button', { name: 'Run it' }).click();
      await dangerous.getByText('wipe has not finished').waitFor();
      expect(ran).toEqual([]);
      await page.getByRole('link', { name: 'Now' }).click();
      await page.getByRole('button', { name: 'Yes' }).click();
      await until('the call after the yes', () => Promise.resolve(ran.length > 0 || undefined));
      expect(ran).toEqual(['wipe']);
    },
  );
});
