// The trail of an ended session, for operators.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { createSqliteStore } from '../../store/sqlite/sqlite.ts';
import type { FlowStore } from '../../store/store.ts';
import { Sessions } from '../sessions.ts';
import { settled } from './turn.ts';
import { NOT_KEPT, readTrail } from './ended-record.ts';
import type { Trail } from './ended-record.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });
let folder: string;
let store: FlowStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-trail-'));
  store = await createSqliteStore({ path: join(folder, 'flows.db') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function order(ask: Ask): Promise<unknown> {
  const city = await ask.text('city', { message: 'Where to?' });
  const pin = await ask.text('pin', { message: 'PIN?', secret: true });
  await ask.step('pay', async (step) => (await step.reveal(pin)).length, { effect: 'retry' });
  await ask.step('list', () => 'x'.repeat(1000));
  return { city };
}

async function played(body: (ask: Ask) => Promise<unknown>, answers: unknown[], keys?: string[]) {
  const sessions = new Sessions([flow({ name: 'order' }, body)], { store, log, ...(keys && { keys }) });
  const { header } = await settled(await sessions.start({ ...me, tool: 'order' }));
  const session = { ...me, sessionId: header.id };
  for (const value of answers) await settled(await sessions.answer({ ...session, answers: [{ value }] }));
  const trail = async () => readTrail(sessions.context, (await store.load(header.id))!.header);
  return { sessions, session, trail };
}

const kinds = (trail: Trail | 'sealed' | undefined) =>
  (trail as Trail).entries.map((entry) => ('k' in entry ? `${entry.t} ${entry.k}` : entry.t));

describe('after the end of a session', () => {
  it('it is known what happened when, without any answer where there are no keys', async () => {
    const { sessions, trail } = await played(order, ['Atlantis', '4711']);
    expect(kinds(await trail())).toEqual(['start', 'ans city', 'ans pin', 'int pay', 'step pay', 'step list']);
    expect(await trail()).toMatchObject({ isBare: true, cut: 0 });
    expect(JSON.stringify(await trail())).not.toMatch(/Atlantis|4711|Where to/);
    await sessions.close();
    await store.close();
    const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    // The result is kept until the client has acknowledged it, and has the city in it; the question has not.
    expect(text.join('')).not.toMatch(/Where to/);
    store = memoryStore();
  });

  it('questions and answers are kept sealed if there are keys, and secrets never', async () => {
    const { sessions, session, trail } = await played(order, ['Atlantis', '4711'], ['a key of all processes']);
    expect(await trail()).toMatchObject({
      isBare: false,
      entries: [
        { t: 'start' },
        { t: 'ans', k: 'city', v: 'Atlantis', q: { message: 'Where to?' } },
        { t: 'ans', k: 'pin', v: { $secret: '' } },
        { t: 'int', k: 'pay' },
        { t: 'step', k: 'pay', v: 4 },
        { t: 'step', k: 'list', v: NOT_KEPT },
      ],
    });
    const { header } = (await store.load(session.sessionId))!;
    expect(header.trail).not.toContain('Atlantis');
    expect(readTrail(new Sessions([], { store, log, keys: ['another key'] }).context, header)).toBe('sealed');
    await sessions.close();
  });

  it('is the same after a cancel, an undo, and an expiry', async () => {
    const undoing = await played(async (ask) => {
      await ask.step('book', () => 1, { effect: 'retry', undo: () => {} });
      await ask.text('city');
    }, []);
    await settled(await undoing.sessions.cancel(undoing.session));
    expect(kinds(await undoing.trail())).toEqual(['start', 'int book', 'step book', 'end', 'undo book']);
    const plain = await played(async (ask) => ask.text('city'), []);
    await plain.sessions.cancel(plain.session);
    expect(kinds(await plain.trail())).toEqual(['start', 'end']);
  });

  it('is bounded, and says how much is missing', async () => {
    const { trail } = await played(async (ask) => {
      for (let at = 0; at < 300; at++) await ask.step('count', () => at);
    }, []);
    expect(await trail()).toMatchObject({ cut: 101, entries: { length: 200 } });
  });

  it('nothing is kept by the memory store, which operators cannot read', async () => {
    await store.close();
    store = memoryStore();
    const { trail } = await played(order, ['Atlantis', '4711']);
    expect(await trail()).toBeUndefined();
  });
});
