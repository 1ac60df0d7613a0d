// A question to somebody else outlives the process that asked it: who was not told is told, reminders come, the link leads to any process, and a client
// that connects is asked.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PersonNotice } from 'mcp-parley/flow';
import { FakeBrowser, csrfOf } from '../../src/people/page/fake-round.contract.ts';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-people-'))));
afterEach(() => removeFolder(folder));

const ledgerOf = () => join(folder, 'ledger');
const start = (remind = '1s') =>
  startHttp(fixture('people', [JSON.stringify({ path: join(folder, 'flows.db') }), ledgerOf(), remind]));

type Told = PersonNotice & { failed: boolean };

function told(): Told[] {
  try {
    return readFileSync(ledgerOf(), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Told);
  } catch {
    return [];
  }
}

async function client({ port }: HttpFixture, user: string, capabilities: Json = {}) {
  const { wire, socket } = await socketWire(port, { 'x-user': user });
  await wire.initialize('2025-11-25', capabilities);
  return { wire, socket };
}

/** To this process, which may be another one than the link was made in. */
function at(link: string, { port }: HttpFixture): string {
  const there = new URL(link);
  there.port = String(port);
  return there.href;
}

test('is told again after a notice has failed and its process was killed, and is reminded; the link of one process leads to another', async () => {
  const first = await start();
  const { wire } = await client(first, 'ada');
  const { result } = await wire.request('interaction.start', { toolName: 'release' });
  const { sessionId } = result!;
  await until('the notice that fails', () => told().length === 1);
  await first.stop();
  expect(told()[0]).toMatchObject({ kind: 'asked', failed: true });

  await using second = await start();
  const notice = await until('the notice', () => told()[1]);
  expect(notice).toMatchObject({ kind: 'asked', person: 'ops-lead', sessionId, message: 'Why?', failed: false });
  const browser = new FakeBrowser();
  const { text } = await browser.open(at(notice.link!, second));
  expect(text).toContain('Why?');
  await second.stop();

  await using third = await start();
  const count = told().length;
  const reminder = await until('a reminder', () => told()[count]);
  expect(reminder.kind).toBe('reminder');
  const there = at(notice.link!, third);
  expect((await new FakeBrowser().open(there)).status).toBe(410); // opened before, in another process
  const done = await browser.post(there, { csrf: csrfOf(text), do: 'accept', 'q0.0': 'Because' });
  expect(done.text).toContain('Your answer has been sent');
  const { wire: after } = await client(third, 'ada');
  const state = (await after.request('interaction.getState', { sessionId })).result;
  expect(state).toMatchObject({ state: 'completed', result: { data: 'Because' } });
});

test('is asked by a form when they connect to a process that was started after it was killed', async () => {
  const first = await start('1h');
  const { wire } = await client(first, 'ada');
  const { result } = await wire.request('interaction.start', { toolName: 'release' });
  const { sessionId } = result!;
  await until('a notice', () => told().some(({ failed }) => !failed));
  await first.stop();

  await using second = await start('1h');
  const { wire: lead } = await client(second, 'ops-lead', { elicitation: {} });
  const form = await lead.find('the form', ({ method }) => method === 'elicitation/create');
  lead.write({ jsonrpc: '2.0', id: form.id, result: { action: 'accept', content: { why: 'Because' } } });
  const { wire: after } = await client(second, 'ada');
  await until('the end', async () => {
    const state = (await after.request('interaction.getState', { sessionId })).result;
    return state!.state === 'completed';
  });
});
