// Sessions of interactive tools in the console: those in the store of a flow server, which the operator answers and cancels, and what else passes through.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createServer } from '../../../src/_entries/index.ts';
import { connectFlows, createSqliteStore, f, flow, serveFlows } from '../../../src/_entries/flow.ts';
import { StoredFlowSessions } from '../../../src/cli/commands/flows/stored-flow-sessions.ts';
import { until } from '../../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from '../chromium.ts';
import { enter, log, picture, startGateway } from './console-gateway.ts';

const WIDE = { width: 1180, height: 860 };
const { open, closing } = browserOfTests();

const trip = flow({ name: 'book_trip', limits: { duration: '1d' } }, async (ask) => {
  const city = await ask.text('city', { message: 'Where do you want to go?' });
  const room = await ask.step('reserve', () => ({ room: `Hotel ${city}` }), { effect: 'retry', undo: () => {} });
  const ok = await ask.confirm('pay', { message: `Pay 120 for ${room.room}?` });
  return ok ? 'Booked.' : 'Not booked.';
});

const survey = flow({ name: 'survey', limits: { duration: '1d' } }, async (ask) => {
  await ask.form('who', { name: f.text(), days: f.number() }, { message: 'About you' });
  await ask.choices('days', ['Monday', 'Tuesday', 'Friday'], { message: 'When?' });
  return 'Thanks.';
});

/** A server of flows with a store, behind a gateway that knows of the store or does not, and a client that plays. */
async function playing({ knowsStore = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-flows-'));
  closing.push(async () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'flows.db');
  const store = await createSqliteStore({ path });
  const server = createServer({ name: 'trips', version: '1.0.0', log });
  serveFlows(server, [trip, survey], { store, log });
  const listening = await server.listen({ port: 0 });
  closing.push(async () => (await server.close(), await store.close()));
  closing.push(() => listening.close());
  const config = { store: `sqlite:${path}`, keys: [] };
  const served = await startGateway(closing, {
    servers: { trips: listening.url },
    steps: [],
    ...(knowsStore && { flowSessions: new StoredFlowSessions(() => config) }),
  });
  const client = await connectFlows(served.url, { log, revision: '2025-11-25' });
  closing.push(() => client.close());
  const answers: unknown[] = [];
  const play = (tool: string) => {
    const outcome = client.run(tool, {}, { onPrompt: () => answers.shift() ?? new Promise(() => {}) });
    outcome.catch(() => {});
    return outcome;
  };
  return { served, play, answers };
}

const stored = (page: Page) => page.getByRole('region', { name: 'Sessions in the store' });

describe.skipIf(chromiumPath === undefined)('the flows in the console', () => {
  it.each(['light', 'dark'] as const)(
    'sessions in the store are listed, one opens to its journal, is answered and ends for its client (%s)',
    async (colorScheme) => {
      const { served, play, answers } = await playing();
      const tab = await open({ viewport: WIDE, colorScheme });
      const { page } = tab;
      await enter(served, tab);
      await page.getByRole('link', { name: 'Flows' }).click();
      await page.getByText('No session is like that.').waitFor();
      await page.getByText('The store is that of the configuration').waitFor();
      expect(await violations(tab)).toEqual([]);
      answers.push('Lisbon');
      const trip = play('book_trip');
      await page.getByRole('cell', { name: 'pay: Pay 120 for Hotel Lisbon?' }).waitFor();
      const surveying = play('survey');
      await page.getByRole('region', { name: 'Sessions in the store' }).getByText('survey').waitFor();
      await page.getByRole('region', { name: 'Sessions that pass through' }).getByText('survey').waitFor();
      expect(await violations(tab)).toEqual([]);
      if (colorScheme === 'light') await picture(tab, 'console-flows');
      await stored(page).getByRole('link', { name: 'book_trip' }).click();
      const journal = page.getByRole('list', { name: 'Entries of the journal' });
      await journal.getByText('Where do you want to go? → "Lisbon"').waitFor();
      await journal.getByText('→ {"room":"Hotel Lisbon"}').waitFor();
      await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
      expect(await violations(tab)).toEqual([]);
      if (colorScheme === 'light') await picture(tab, 'console-flow');
      await page.getByRole('button', { name: 'Yes' }).click();
      expect(await trip).toMatchObject({ result: 'Booked.' });
      await page.getByText('completed').first().waitFor();
      await page.getByRole('link', { name: 'All sessions' }).click();
      await stored(page).getByRole('link', { name: 'survey' }).click();
      await page.getByRole('button', { name: 'Cancel the session' }).click();
      await page.getByRole('button', { name: 'Keep it' }).click();
      await page.getByRole('button', { name: 'Cancel the session' }).click();
      await page.keyboard.press('Enter'); // the focus is on the question whether it is meant
      expect(await surveying).toMatchObject({ error: { message: expect.stringContaining('Cancelled by browser:') } });
      await page.getByText('cancelled').first().waitFor();
      expect(await violations(tab)).toEqual([]);
      expect(tab.complaints).toEqual([]);
    },
  );

  it('a form and several choices are filled in by keyboard on a phone, and what is wrong is said there', async () => {
    const { served, play } = await playing();
    const tab = await open({ viewport: { width: 390, height: 844 } });
    const { page } = tab;
    await enter(served, tab);
    const surveying = play('survey');
    await page.getByRole('link', { name: 'Flows' }).click();
    await stored(page).getByRole('link', { name: 'survey' }).focus();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violations(tab)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Days').fill('many');
    await page.getByLabel('Days').press('Enter');
    await page.getByRole('alert').getByText('Must be a number').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violations(tab)).toEqual([]);
    await page.getByLabel('Days').fill('3');
    await page.getByLabel('Days').press('Enter');
    await page.getByLabel('Tuesday').press('Space');
    await page.getByLabel('Friday').press('Space');
    expect(await violations(tab)).toEqual([]);
    await page.getByRole('button', { name: 'Answer' }).press('Enter');
    expect(await surveying).toMatchObject({ result: 'Thanks.' });
    await page.getByText('completed').first().waitFor();
    await page.getByText('without answers, as its server has no keys').waitFor();
    expect(tab.complaints).toEqual([expect.stringContaining('409')]); // the refused answer
  });

  it('without a store, sessions that pass through are shown without answers, and the page says what cannot be', async () => {
    const { served, play, answers } = await playing({ knowsStore: false });
    const tab = await open({ viewport: WIDE });
    const { page } = tab;
    await enter(served, tab);
    answers.push('Lisbon');
    void play('book_trip');
    await page.getByRole('link', { name: 'Flows' }).click();
    await page.getByText('cannot be seen from outside').waitFor();
    await page.getByRole('cell', { name: 'Pay 120 for Hotel Lisbon?' }).waitFor();
    await page.getByRole('link', { name: 'book_trip' }).click();
    const journal = page.getByRole('list', { name: 'Entries of the journal' });
    await until('its entries', async () => (await journal.getByRole('listitem').count()) >= 4);
    expect(await journal.getByText('Where do you want to go?').count()).toBe(1);
    expect(await journal.getByText('"Lisbon"').count()).toBe(0);
    await page.getByText('Only its client can answer.').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel the session' }).count()).toBe(0);
    expect(await violations(tab)).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });
});
