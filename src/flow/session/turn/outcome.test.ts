// The result of a session is kept until its client has acknowledged it, wherever its process dies.
import { describe, expect, it } from 'vitest';
import { flow } from '../../define.ts';
import { until } from '../../../../tests/helpers/until.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { CrashPoints, createCrashingStore } from '../../testing/test-stage.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { Sessions } from '../sessions.ts';
import type { SessionOptions } from '../context/session-context.ts';
import { settled } from './turn.ts';

const me = { principal: 'me' };
const QUIET = createLog({ level: 'silent' });
const order = flow({ name: 'order', summary: 'Ordered' }, async (ask) => {
  const city = await ask.text('city', { alone: true });
  await ask.step('book', () => 'booked', { effect: 'retry' });
  const pin = await ask.text('pin', { secret: true, alone: true });
  await ask.step('pay', (step) => step.reveal(pin), { effect: 'retry' });
  return { city };
});
const KEYS = ['the key of all processes'];
const quick = (store = memoryStore(), more: SessionOptions = {}) =>
  new Sessions([order], { store, keys: KEYS, log: QUIET, ...more });

async function ended(more: SessionOptions = {}) {
  const store = memoryStore();
  const sessions = quick(store, more);
  const { header } = await sessions.start({ ...me, tool: 'order' });
  const session = { ...me, sessionId: header.id };
  const answer = (promptId: string, value: unknown, by = sessions) =>
    by.answer({ ...session, answers: [{ promptId, value }] }).then(settled);
  await answer('city~1', 'Oslo');
  const turn = await answer('pin~1', '1234');
  return { store, sessions, session, answer, turn };
}

describe('the result of a session', () => {
  it('is in its state, and comes again with the last answer, also in another process', async () => {
    const { store, session, answer, turn } = await ended();
    expect(turn).toMatchObject({ result: { city: 'Oslo' }, summary: 'Ordered' });
    const other = quick(store);
    const kept = { result: { city: 'Oslo' }, summary: 'Ordered' };
    expect((await other.getState(session)).outcome).toEqual(kept);
    expect(await answer('pin~1', '1234', other)).toMatchObject({ accepted: true, ...kept });
    await expect(answer('pin~1', '4321', other)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    await expect(answer('city~1', 'Oslo', other)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    await expect(other.getState({ ...session, principal: 'you' })).rejects.toMatchObject({
      code: 'FLOW_SESSION_NOT_FOUND',
    });
  });

  it('is gone once it was acknowledged', async () => {
    const { sessions, session, answer } = await ended();
    await sessions.acknowledge(session.sessionId);
    expect(await sessions.getState(session)).not.toHaveProperty('outcome');
    expect((await sessions.getState(session)).header.state).toBe('completed');
    await expect(answer('pin~1', '1234')).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  });

  it('is sealed, and nothing that was answered is with it', async () => {
    const { store, session } = await ended();
    const text = JSON.stringify(await store.load(session.sessionId));
    expect(text).not.toMatch(/Oslo|"1234"|Ordered/); // a time may contain the digits
    const without = await ended({ keys: undefined });
    expect(JSON.stringify(await without.store.load(without.session.sessionId))).toMatch(/Oslo/);
  });

  it('is not kept where it is too large', async () => {
    const { sessions, session } = await ended({ limits: { resultBytes: 100 } });
    expect(await sessions.getState(session)).not.toHaveProperty('outcome');
  });

  it('is a failure, too', async () => {
    const broken = flow({ name: 'broken' }, async (ask) => {
      await ask.text('a');
      throw new Error('Out of order');
    });
    const sessions = new Sessions([broken], { log: QUIET });
    const { header } = await sessions.start({ ...me, tool: 'broken' });
    const session = { ...me, sessionId: header.id };
    await sessions.answer({ ...session, answers: [{ value: 'x' }] });
    expect((await sessions.getState(session)).outcome).toMatchObject({ failure: { message: 'Out of order' } });
  });

  it('says why it failed while its effects are still being undone', async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const refused = flow({ name: 'refused' }, async (ask) => {
      await ask.step('work', () => 'worked', { effect: 'retry', undo: () => new Promise<never>(() => {}) });
      await ask.text('sure');
      throw new Error('nobody wants it');
    });
    const make = () => new Sessions([refused], { clock, store, keys: KEYS, log: QUIET });
    const first = make();
    const { header } = await settled(await first.start({ ...me, tool: 'refused' }));
    const session = { ...me, sessionId: header.id };
    const answer = { ...session, answers: [{ promptId: 'sure~1', value: 'no' }] };
    void first.answer(answer); // it waits for the undo
    await until('it to be ending', async () => (await store.load(header.id))?.header.pending !== undefined);
    const other = make();
    const told = { failure: { message: 'nobody wants it' } };
    expect(await other.getState(session)).toMatchObject({ header: { state: 'error' }, outcome: told });
    expect(await other.answer(answer)).toMatchObject({ accepted: true, ...told });
  });
});

/** Dies at one point, and goes on in a process that takes over; the client sends again what was not answered. */
async function playedWithDeathAt(point: number) {
  const clock = manualClock();
  const memory = memoryStore({ clock });
  let boundaries = new CrashPoints(point);
  let isOver = true;
  const begin = () =>
    quick(createCrashingStore(memory, boundaries, []), { clock, leaseMs: 0, graceMs: 0, newId: () => 'session_x' });
  const session = { ...me, sessionId: 'session_x' };
  const act = async (request: (sessions: Sessions) => Promise<unknown>) => {
    const done = await Promise.race([request(begin()).then(() => true), boundaries.death()]);
    if (done) return;
    isOver = false;
    boundaries = new CrashPoints();
    const next = begin();
    await next.sweep();
    if ((await memory.load('session_x')) === undefined) await request(next);
    else await request(next).catch(() => {});
  };
  await act(async (sessions) => settled(await sessions.start({ ...me, tool: 'order' })));
  for (const [promptId, value] of [
    ['city~1', 'Oslo'],
    ['pin~1', '1234'],
  ] as const) {
    await act(async (sessions) => settled(await sessions.answer({ ...session, answers: [{ promptId, value }] })));
  }
  const last = begin();
  await last.sweep();
  for (let tries = 0; tries < 50; tries++) {
    const view = await last.getState(session);
    if (view.header.state === 'completed') return { isOver, outcome: view.outcome };
    await last.sweep();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { isOver, outcome: (await last.getState(session)).header.state };
}

it('is there after a death at any point', async () => {
  let point = 0;
  for (; ; point++) {
    const { isOver, outcome } = await playedWithDeathAt(point);
    expect(outcome, `a death at point ${point}`).toMatchObject({ result: { city: 'Oslo' } });
    if (isOver) break;
  }
  expect(point).toBeGreaterThan(10);
});

describe('a start with an id of the client', () => {
  const start = { ...me, tool: 'order', startId: 'an id of the client' };

  it('is the same session when it comes again, also in another process and at once', async () => {
    const store = memoryStore();
    const turns = await Promise.all([quick(store).start(start), quick(store).start(start)]);
    const again = await quick(store).start(start);
    expect(new Set([...turns, again].map(({ header }) => header.id)).size).toBe(1);
    expect(again.questions).toMatchObject([{ promptId: 'city~1' }]);
    expect(await store.list(again.header.principal)).toHaveLength(1);
  });

  it('has the result, where it has ended', async () => {
    const sessions = quick();
    const { header } = await sessions.start(start);
    const session = { ...me, sessionId: header.id };
    for (const [promptId, value] of Object.entries({ 'city~1': 'Oslo', 'pin~1': '1234' })) {
      await settled(await sessions.answer({ ...session, answers: [{ promptId, value }] }));
    }
    expect(await sessions.start(start)).toMatchObject({ result: { city: 'Oslo' }, header: { id: header.id } });
  });

  it('is a different session for another principal, and refused for another tool', async () => {
    const sessions = quick();
    const mine = await sessions.start(start);
    const theirs = await sessions.start({ ...start, principal: 'you' });
    expect(theirs.header.id).not.toBe(mine.header.id);
    await expect(sessions.start({ ...start, args: { city: 'Rome' } })).rejects.toMatchObject({
      code: 'START_ID_USED',
    });
  });
});
