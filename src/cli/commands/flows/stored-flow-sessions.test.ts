// The sessions in a store as the operator's console gets them: what is shown, and whose answers count.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Ask } from '../../../flow/authoring/ask.ts';
import { flow } from '../../../flow/define.ts';
import { Sessions } from '../../../flow/session/sessions.ts';
import { settled } from '../../../flow/session/turn/turn.ts';
import { createSqliteStore } from '../../../flow/store/sqlite/sqlite.ts';
import { LOCAL } from '../../../kernel/base/anonymous.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { until } from '../../../../tests/helpers/until.ts';
import { StoredFlowSessions } from './stored-flow-sessions.ts';

const log = createLog({ level: 'silent' });
const OPEN = { peopleLogIn: false };
const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A session of this principal that has these answers, and what the console gets of its store. */
async function begun(body: (ask: Ask) => Promise<unknown>, principal = LOCAL, answers: unknown[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-stored-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'flows.db');
  const store = await createSqliteStore({ path });
  closing.push(() => store.close());
  const sessions = new Sessions([flow({ name: 'x' }, body)], { store, log, sweep: false });
  closing.push(() => sessions.close());
  const { id: sessionId } = (await sessions.start({ principal, tool: 'x' })).header;
  await until('its question', async () =>
    (await store.load(sessionId))!.header.current.length > 0 ? true : undefined,
  );
  for (const value of answers) await settled(await sessions.answer({ principal, sessionId, answers: [{ value }] }));
  const config = { store: `sqlite:${path}`, keys: [] };
  const stored = new StoredFlowSessions(() => config);
  const id = (await stored.list('open')).rows[0]!.id;
  const answer = (promptId: string, ...given: string[]) =>
    stored.ask({ kind: 'answer', id, by: 'browser:me', promptId, fields: new Map([['value', given]]) }, OPEN);
  return { stored, sessions, sessionId, id, answer };
}

const city = async (ask: Ask) => [
  await ask.text('city', { message: 'Where?', min: 2 }),
  await ask.choice('how', ['by train', 'on foot']),
];

it('an answer of the operator is checked, left once, and taken by the server of the flow', async () => {
  const { stored, sessions, sessionId, id, answer } = await begun(city);
  await expect(answer('city~1', 'X')).rejects.toThrow('at least 2');
  await answer('city~1', 'Oslo');
  await expect(answer('city~1', 'Rome')).rejects.toThrow('has not taken yet');
  expect((await stored.find(id, OPEN))!.handed).toContain('An answer of browser:me waits');
  await sessions.attend(sessionId);
  const view = (await stored.find(id, OPEN))!;
  expect(view.entries.at(-1)).toMatchObject({ what: 'answer', key: 'city', text: expect.stringContaining('"Oslo"') });
  expect(view.questions).toMatchObject([{ fields: [{ kind: 'choice', options: ['by train', 'on foot'] }] }]);
  await answer('how~1', '1');
  await sessions.attend(sessionId);
  expect(await stored.find(id, OPEN)).toMatchObject({ row: { state: 'completed' } });
  await expect(answer('how~1', '1')).rejects.toThrow('no longer open');
});

it('what the console gets of a session has no id with which somebody could answer for its user', async () => {
  const { stored, id, sessionId } = await begun(city);
  const shown = JSON.stringify([await stored.list('all'), await stored.find(id, OPEN)]);
  expect(shown).toContain(id);
  expect(shown).not.toContain(sessionId);
  expect(await stored.find(id.slice(0, 4), OPEN)).toBeUndefined();
});

it.each([
  ['alice', OPEN],
  [LOCAL, { peopleLogIn: true }],
])('answers of callers who log in are not shown, and only they answer (%s)', async (principal, look) => {
  const { stored, id } = await begun(city, principal, ['Oslo']);
  const view = (await stored.find(id, look))!;
  expect(JSON.stringify(view)).not.toContain('Oslo');
  expect(view.entries.map(({ what }) => what)).toContain('answer');
  expect(view.questions).toMatchObject([{ refusal: expect.stringMatching(/log(ged)? in/) }]);
  const fields = new Map([['value', ['0']]]);
  const asked = stored.ask({ kind: 'answer', id, by: 'browser:me', promptId: 'how~1', fields }, look);
  await expect(asked).rejects.toThrow(/log(ged)? in/);
});

it.each<[string, (ask: Ask) => Promise<unknown>, string]>([
  ['another person', (ask) => ask.person('bea').text('q'), 'for bea to answer'],
  ['a secret', (ask) => ask.text('q', { secret: true }), 'which only its user can give'],
  ['a file', (ask) => ask.file('q'), 'which only its user can give'],
])('a question for %s cannot be answered in the console', async (_, body, why) => {
  const { stored, id, answer } = await begun(body);
  expect((await stored.find(id, OPEN))!.questions).toMatchObject([{ refusal: expect.stringContaining(why) }]);
  await expect(answer('q~1', 'x')).rejects.toThrow(why);
});

it('a store that is not there says so, and the next look tries again', async () => {
  const config = { store: 'sqlite:/nowhere/flows.db', keys: [] };
  const stored = new StoredFlowSessions(() => config);
  await expect(stored.list('open')).rejects.toThrow('does not exist');
  await expect(stored.find('abcdefgh', OPEN)).rejects.toThrow('does not exist');
});
