// Requests that an operator leaves in a store for the process that serves a session.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import type { SessionOptions } from '../session/context/session-context.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import { until } from '../../../tests/helpers/until.ts';
import { conditionOf, parkedReason } from '../header.ts';
import { leaveAnswers, leaveCancel, leaveRetry } from './leave-request.ts';

const me = { principal: 'me' };
const log = createLog({ level: 'silent' });
type Body = (ask: Ask) => Promise<unknown>;

async function begun(body: Body, more: Partial<SessionOptions> = {}) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const deploy = (next: Body) => new Sessions([flow({ name: 'x' }, next)], { store, clock, log, ...more });
  const sessions = deploy(body);
  const { header } = await settled(await sessions.start({ ...me, tool: 'x' }));
  const { id } = header;
  const turns: Turn[] = [];
  sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
  const headerNow = async () => (await store.load(id))!.header;
  return { outside: { store, clock }, sessions, deploy, id, turns, headerNow, clock, store };
}

const by = 'ops';
const one = (promptId: string, value: unknown) => ({ answers: [{ promptId, value }], by });

describe('an answer that is handed over', () => {
  const greet: Body = async (ask) => [
    await ask.text('name', { message: 'Name?', min: 2, validate: (text) => (text === 'no' ? 'Not that' : undefined) }),
    await ask.text('more', { message: 'More?' }),
  ];

  it('is taken by the process that serves the session, which tells its client and writes down whose it is', async () => {
    const { outside, sessions, id, turns, store } = await begun(greet);
    const handed = await leaveAnswers(outside, id, one('name~1', 'Ada'));
    expect(handed.handed).toEqual(one('name~1', 'Ada'));
    await sessions.sweep();
    const { header, entries } = (await store.load(id))!;
    expect(header.handed).toBeUndefined();
    expect(entries.at(-1)).toMatchObject({ t: 'ans', k: 'name', v: 'Ada', via: 'terminal', meta: { operator: 'ops' } });
    expect(turns.map(({ questions }) => questions.map(({ key }) => key))).toEqual([['more']]);
  });

  it('is refused at once by the rules of its question, and later by those of the author', async () => {
    const { outside, sessions, id, headerNow } = await begun(greet);
    await expect(leaveAnswers(outside, id, one('name~1', 'A'))).rejects.toThrow('at least 2');
    await expect(leaveAnswers(outside, id, one('more~1', 'x'))).rejects.toThrow('is no longer open');
    await leaveAnswers(outside, id, one('name~1', 'no'));
    await sessions.sweep();
    expect((await headerNow()).current).toMatchObject([{ promptId: 'name~2', complaint: { error: 'Not that' } }]);
    expect((await headerNow()).handed).toBeUndefined();
  });

  it('gives way to an answer of the user that comes first', async () => {
    const { outside, sessions, id, headerNow } = await begun(greet, { warm: 10 });
    await leaveAnswers(outside, id, one('name~1', 'Ada'));
    await sessions.answer({ ...me, sessionId: id, answers: [{ promptId: 'name~1', value: 'Grace' }] });
    expect((await headerNow()).handed).toBeUndefined();
    await sessions.sweep();
    expect((await sessions.getState({ ...me, sessionId: id })).data).toEqual({ name: 'Grace' });
  });

  it('is not taken for a question whose time is over', async () => {
    const { outside, sessions, id, clock, headerNow } = await begun(async (ask) => [
      await ask.text('name', { timeout: '1s', onTimeout: 'default', default: 'nobody' }),
      await ask.text('more'),
    ]);
    await leaveAnswers(outside, id, one('name~1', 'Ada'));
    clock.move(1000);
    await sessions.sweep();
    await until('the time-out', async () => (await headerNow()).current.length > 0);
    expect((await headerNow()).handed).toBeUndefined();
    expect((await sessions.getState({ ...me, sessionId: id })).history).toMatchObject([
      { response: { action: 'timeout' } },
    ]);
  });

  it('is never a secret or a file, and never for a session that asks nothing', async () => {
    const { outside, sessions, id } = await begun(async (ask) => ask.text('pass', { message: 'P?', secret: true }));
    await expect(leaveAnswers(outside, id, one('pass~1', 'hunter2'))).rejects.toThrow('only its user can give');
    await sessions.cancel({ ...me, sessionId: id });
    await expect(leaveAnswers(outside, id, one('pass~1', 'hunter2'))).rejects.toThrow('it has ended');
    await expect(leaveAnswers(outside, 'session_x', one('pass~1', ''))).rejects.toThrow('Session not found');
  });
});

describe('a cancel that is handed over', () => {
  it('ends the session where it is served, and takes its effects back', async () => {
    const undone: string[] = [];
    const { outside, sessions, id, turns, headerNow } = await begun(async (ask) => {
      await ask.step('reserve', () => 'r1', { effect: 'retry', undo: (room) => void undone.push(room) });
      await ask.confirm('ok');
    });
    expect(conditionOf(await leaveCancel(outside, id, 'Cancelled by ops'))).toBe('cancelled');
    expect(conditionOf(await headerNow())).toBe('ending');
    await expect(leaveCancel(outside, id, 'again')).rejects.toThrow('being ended already');
    await sessions.sweep();
    await until('the end', async () => conditionOf(await headerNow()) === 'cancelled');
    expect({ undone, reason: (await headerNow()).reason }).toEqual({ undone: ['r1'], reason: 'Cancelled by ops' });
    expect(turns.length).toBe(1);
    await expect(leaveCancel(outside, id, 'again')).rejects.toThrow('it has ended');
  });

  it('reaches a process that is at work in the session', async () => {
    let finish = (_: string): void => {};
    const undone: unknown[] = [];
    const { outside, sessions, id, headerNow } = await begun(async (ask) => {
      await ask.text('go');
      await ask.step('slow', () => new Promise<string>((resolve) => (finish = resolve)), {
        effect: 'retry',
        undo: (result) => void undone.push(result),
      });
      await ask.text('more');
    });
    await sessions.answer({ ...me, sessionId: id, answers: [{ value: 'x' }] });
    await expect(leaveRetry(outside, id, by)).rejects.toThrow('a process is running it');
    await leaveCancel(outside, id, 'Cancelled by ops');
    finish('done');
    await until('the end', async () => conditionOf(await headerNow()) === 'cancelled');
    expect(undone).toEqual(['done']);
  });
});

describe('trying again', () => {
  const charge =
    (key: 'charge' | 'charge-card'): Body =>
    async (ask) => {
      await ask.step(key, () => 'paid', { effect: 'retry' });
      return [await ask.text('note'), await ask.text('more')];
    };

  it('continues a parked session at once, or says again why it cannot', async () => {
    const { outside, deploy, sessions, id, headerNow } = await begun(charge('charge'));
    const renamed = deploy(charge('charge-card'));
    const answers = [{ value: 'x' }];
    await expect(renamed.answer({ ...me, sessionId: id, answers })).rejects.toThrow('charge-card would be done');
    expect(conditionOf(await headerNow())).toBe('parked');
    await leaveRetry(outside, id, by);
    await renamed.sweep();
    expect(parkedReason(await headerNow())).toContain('charge-card would be done instead');
    expect((await headerNow()).handed).toBeUndefined();
    await leaveRetry(outside, id, by);
    await sessions.sweep();
    expect(conditionOf(await headerNow())).toBe('waiting');
    expect((await headerNow()).current).toMatchObject([{ promptId: 'note~1' }]);
    await expect(leaveRetry(outside, id, by)).rejects.toThrow('nothing is wrong with it');
  });

  it('takes the answer that was handed over when the session was parked', async () => {
    const { outside, deploy, sessions, id, headerNow } = await begun(charge('charge'));
    const renamed = deploy(charge('charge-card'));
    await leaveAnswers(outside, id, one('note~1', 'kept'));
    await renamed.sweep();
    expect(conditionOf(await headerNow())).toBe('parked');
    expect((await headerNow()).handed).toEqual(one('note~1', 'kept'));
    await leaveRetry(outside, id, 'another');
    await renamed.sweep();
    expect((await headerNow()).handed).toEqual(one('note~1', 'kept'));
    await leaveRetry(outside, id, 'another');
    await sessions.sweep();
    expect((await headerNow()).current).toMatchObject([{ promptId: 'more~1' }]);
    expect((await headerNow()).handed).toBeUndefined();
    expect((await sessions.getState({ ...me, sessionId: id })).data).toEqual({ note: 'kept' });
  });

  it('takes effects back that could not be undone before', async () => {
    let isBroken = true;
    const { outside, sessions, id, headerNow, deploy } = await begun(async (ask) => {
      await ask.step('reserve', () => 'r1', {
        effect: 'retry',
        undo: () => {
          if (isBroken) throw new Error('away');
        },
      });
      await ask.confirm('ok');
    });
    await sessions.cancel({ ...me, sessionId: id });
    expect(conditionOf(await headerNow())).toBe('ending');
    await sessions.close(); // its process has died
    isBroken = false;
    await leaveRetry(outside, id, by);
    const next = deploy(async (ask) => {
      await ask.step('reserve', () => 'r1', { effect: 'retry', undo: () => {} });
      await ask.confirm('ok');
    });
    await next.sweep();
    await until('the end', async () => conditionOf(await headerNow()) === 'cancelled');
    expect((await headerNow()).notUndone).toBeUndefined();
    await expect(leaveRetry(outside, id, by)).rejects.toThrow('it has ended');
  });
});
