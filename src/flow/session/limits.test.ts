import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import type { FlowOptions } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { FlowLimits } from './context/flow-limits.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const me = { principal: 'me' };

async function begun(
  body: (ask: Ask) => Promise<unknown>,
  limits: Partial<FlowLimits> = {},
  options: Partial<FlowOptions> = {},
) {
  const clock = manualClock();
  const log = createLog({ level: 'silent' });
  const sessions = new Sessions([flow({ name: 'x', ...options }, body)], { clock, log, limits });
  const turn = await settled(await sessions.start({ ...me, tool: 'x' }));
  const session = { ...me, sessionId: turn.header.id };
  const answer = async (value: unknown) => settled(await sessions.answer({ ...session, answers: [{ value }] }));
  return { sessions, session, clock, turn, answer };
}

const forever = async (ask: Ask) => {
  for (;;) await ask.text('a');
};

describe('limits', () => {
  it('a session takes only so many answers in a second', async () => {
    const { sessions, clock, answer } = await begun(forever, { respondsPerSecond: 3 });
    for (let at = 0; at < 3; at++) await answer('x');
    clock.move(400);
    await expect(answer('x')).rejects.toMatchObject({ code: 'FLOW_LIMIT', retryAfterMs: 600 });
    const other = await sessions.start({ ...me, tool: 'x' });
    await sessions.answer({ ...me, sessionId: other.header.id, answers: [{ value: 'x' }] });
    clock.move(600);
    expect((await answer('x')).accepted).toBe(true);
  });

  it('a principal has only so many sessions, however many it starts at once', async () => {
    const { sessions, session } = await begun(forever, { sessionsPerPrincipal: 3 });
    const starts = await Promise.allSettled(Array.from({ length: 6 }, () => sessions.start({ ...me, tool: 'x' })));
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await expect(sessions.start({ ...me, tool: 'x' })).rejects.toMatchObject({ code: 'FLOW_LIMIT' });
    await expect(sessions.start({ principal: 'you', tool: 'x' })).resolves.toBeDefined();
    await sessions.cancel(session);
    await expect(sessions.start({ ...me, tool: 'x' })).resolves.toBeDefined();
  });

  it('the total number of sessions, of all principals', async () => {
    const { sessions, session } = await begun(forever, { sessions: 2 });
    await sessions.start({ principal: 'you', tool: 'x' });
    const refused = { code: 'FLOW_LIMIT', retryAfterMs: 1000, details: { limit: 'sessions' } };
    await expect(sessions.start({ principal: 'third', tool: 'x' })).rejects.toMatchObject(refused);
    await sessions.cancel(session);
    await expect(sessions.start({ principal: 'third', tool: 'x' })).resolves.toBeDefined();
  });

  it('an answer beyond the limit of the journal is refused, and nothing is lost', async () => {
    const { sessions, session, answer } = await begun(forever, { journalBytes: 1000 });
    await answer('x'.repeat(500));
    const before = await sessions.getState(session);
    await expect(answer('x'.repeat(500))).rejects.toMatchObject({
      code: 'FLOW_LIMIT',
      details: { limit: 'journalBytes' },
    });
    expect(await sessions.getState(session)).toEqual(before);
    expect((await answer('x')).accepted).toBe(true);
  });

  it('a step beyond the limit of the journal ends the session, and is not done again', async () => {
    let times = 0;
    const work = async (ask: Ask) => {
      await ask.text('a');
      for (;;) await ask.step('work', () => (times++, 'x'.repeat(500)), { effect: 'retry' });
    };
    const { sessions, clock, answer } = await begun(work, { journalBytes: 2000 });
    expect(await answer('x')).toMatchObject({
      header: { state: 'error', reason: 'limit' },
      failure: { name: 'FLOW_LIMIT' },
    });
    expect(times).toBe(3);
    clock.move(60_000);
    await sessions.sweep();
    expect(times).toBe(3);
  });

  it('a session asks only so many questions', async () => {
    const { answer } = await begun(forever, {}, { limits: { prompts: 3 } });
    await answer('x');
    await answer('x');
    expect(await answer('x')).toMatchObject({
      header: { state: 'error', reason: 'limit' },
      failure: { name: 'FLOW_LIMIT' },
    });
  });

  it('a question takes only so many attempts', async () => {
    const { sessions, session, answer } = await begun((ask) => ask.number('n'), { attemptsPerQuestion: 3 });
    expect((await answer('x')).accepted).toBe(false);
    expect((await answer('x')).accepted).toBe(false);
    await expect(answer('x')).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    expect((await sessions.getState(session)).header).toMatchObject({ state: 'error', reason: 'attempts' });
  });

  it('a session lives only so long, however busy it is', async () => {
    const { clock, answer } = await begun(forever, {}, { limits: { duration: '10s' } });
    for (let at = 0; at < 9; at++) {
      clock.move(1000);
      await answer('x');
    }
    clock.move(1001);
    await expect(answer('x')).rejects.toMatchObject({ code: 'FLOW_SESSION_EXPIRED' });
  });

  it.each([
    ['too large', 'x'.repeat(200_000)],
    ['too large in all', { a: Array.from({ length: 2000 }, () => 'x'.repeat(100)) }],
    ['too deep', JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)],
    ['reaching into prototypes', JSON.parse('{"__proto__": {"admin": true}}')],
    ['reaching further', { a: { constructor: { prototype: 1 } } }],
  ])('nothing that is %s', async (_, value) => {
    const { sessions, session, answer } = await begun((ask) => ask.custom('any'));
    await expect(answer(value)).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    await expect(sessions.start({ ...me, tool: 'x', args: { any: value } })).rejects.toMatchObject({
      code: 'FLOW_VALIDATION_FAILED',
    });
    expect((await sessions.getState(session)).header.attempts).toBe(0);
  });

  it('results of steps that are JSON, and not too much of it', async () => {
    const big = await begun((ask) => ask.step('s', () => 'x'.repeat(1000)), { stepBytes: 100 });
    expect(big.turn.failure?.name).toBe('FLOW_TOO_LARGE');
    const odd = await begun((ask) => ask.step('s', (): unknown => 1n));
    expect(odd.turn.failure?.name).toBe('FLOW_MISUSED');
  });
});

describe('time', () => {
  it('slides with every answer, and can be extended', async () => {
    const { sessions, session, clock, answer } = await begun(forever, {}, { timeout: '10s' });
    clock.move(9000);
    await answer('x');
    clock.move(9000);
    await sessions.extend(session);
    clock.move(9000);
    expect((await answer('x')).accepted).toBe(true);
    clock.move(10_001);
    await expect(sessions.extend(session)).rejects.toMatchObject({ code: 'FLOW_SESSION_EXPIRED' });
  });

  it.each([
    ['default', 'fallback'],
    ['error', 'caught timeout'],
    ['cancel', undefined],
  ] as const)('of a question alone runs out: %s', async (onTimeout, result) => {
    const { sessions, session, clock } = await begun(async (ask) => {
      const tried = await ask.try(ask.text('a', { timeout: '5s', onTimeout, default: 'fallback' }));
      return tried.ok ? tried.value : `caught ${tried.reason}`;
    });
    const ended = new Promise((resolve) => sessions.on(resolve));
    clock.move(5001);
    await sessions.sweep();
    expect(await ended).toMatchObject({ kind: 'turn', turn: result === undefined ? {} : { result } });
    const { header } = await sessions.getState(session);
    expect(header.state).toBe(result === undefined ? 'cancelled' : 'completed');
  });

  it('does not end another session when a question is cancelled', async () => {
    const quiet = await begun((ask) => ask.text('a'));
    const turn = await quiet.sessions.answer({ ...quiet.session, answers: [{ no: 'cancelled' }] });
    expect(turn.header.state).toBe('cancelled');
    const minded = await begun(async (ask) => (await ask.try(ask.text('a', { onCancel: 'throw' }))).ok);
    expect(await minded.sessions.answer({ ...minded.session, answers: [{ no: 'cancelled' }] })).toMatchObject({
      result: false,
    });
  });
});
