// Time spans know of each other: a question extends its session, and a span that can never pass is refused with both figures.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { flow } from '../define.ts';
import type { FlowOptions } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { unanswered } from '../testing/play-flow.ts';
import { createLog } from '../../kernel/base/log.ts';
import { testFlow } from '../../testing/test-flow.ts';
import type { FlowLimits } from './context/flow-limits.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';

const me = { principal: 'me' };
type Body = (ask: Ask) => Promise<unknown>;

function serve(body: Body, options: Partial<FlowOptions> = {}, limits: Partial<FlowLimits> = {}) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const undone: string[] = [];
  const whole: Body = async (ask) => {
    await ask.step('hold', () => 'h1', { effect: 'retry', undo: (id) => void undone.push(id) });
    return body(ask);
  };
  const tool = flow({ name: 'x', ...options }, whole);
  const sessions = new Sessions([tool], { clock, store, limits, log: createLog({ level: 'silent' }) });
  const start = async (isSettled = true) => {
    const turn = await sessions.start({ ...me, tool: 'x' });
    return isSettled ? settled(turn) : turn;
  };
  const after = async (ms: number, id: string) => {
    clock.move(ms);
    await sessions.sweep();
    await sessions.idle();
    return (await store.load(id))!.header;
  };
  return { clock, sessions, tool, start, after, undone };
}

describe('the timeout of a question', () => {
  const fast: Body = (ask) => ask.choice('speed', ['a', 'b'], { default: 'a', timeout: '4s', onTimeout: 'default' });

  it('extends a session that would expire before it', async () => {
    const { start, after, undone } = serve(fast, { timeout: '1s' });
    const { header } = await start();
    expect(await after(1500, header.id)).toMatchObject({ state: 'waiting_user' });
    expect(await after(2500, header.id)).toMatchObject({ state: 'completed' });
    expect(undone).toEqual([]);
  });

  it('counts with the five minutes of every session', async () => {
    const late: Body = (ask) => ask.text('x', { default: 'd', timeout: '20m', onTimeout: 'default' });
    const { start, after } = serve(late);
    const { header } = await start();
    expect(await after(10 * 60_000, header.id)).toMatchObject({ state: 'waiting_user' });
    expect(await after(10 * 60_000, header.id)).toMatchObject({ state: 'completed' });
  });

  it('does not extend the question after it', async () => {
    const { start, after, sessions } = serve(async (ask) => [await fast(ask), await ask.text('next')], {
      timeout: '1s',
    });
    const { header } = await start();
    await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'b' }] });
    expect(await after(1000, header.id)).toMatchObject({ state: 'error', reason: 'expired' });
  });

  it('is the same in testFlow', async () => {
    const { tool } = serve(fast, { timeout: '1s' });
    expect((await testFlow(tool).answer({ speed: unanswered('timeout') })).result).toBe('a');
  });
});

describe('a span that can never pass is refused, and the error names both figures', () => {
  it.each<[string, Body, string]>([
    ['the timeout of a question', (ask) => ask.text('q', { timeout: '2h' }), '2h.*1h'],
    ['the timeout of another person', (ask) => ask.person('bea').text('q', { timeout: '2d' }), '2d.*1h'],
    ['remind', (ask) => ask.person('bea', { remind: '1d' }).text('q'), '1d.*1h'],
    [
      'remind beside a timeout',
      (ask) => ask.person('bea', { remind: '30m' }).text('q', { timeout: '20m' }),
      '30m.*20m',
    ],
    ['the timeout of a step', (ask) => ask.step('q', () => 1, { timeout: '90m' }), '90m.*1h'],
    ['heartbeat', (ask) => ask.step('q', () => 1, { heartbeat: '2h' }), '2h.*1h'],
    ['retry.within', (ask) => ask.step('q', () => 1, { retry: { attempts: 2, within: '3h' } }), '3h.*1h'],
    ['retry.maxPause', (ask) => ask.step('q', () => 1, { retry: { attempts: 2, maxPause: '2h' } }), '2h.*1h'],
    ['a sleep', (ask) => ask.sleep('q', '2h'), '2h.*1h'],
    ['the timeout of an event', (ask) => ask.event('q', {}, { timeout: '2h' }), '2h.*1h'],
  ])('%s', async (_, body, figures) => {
    const { start, tool, undone } = serve(body);
    const expected = { name: 'FLOW_MISUSED', message: expect.stringMatching(new RegExp(figures)) };
    expect((await start()).failure).toMatchObject(expected);
    expect(undone).toEqual(['h1']);
    expect((await testFlow(tool).answer({})).failure).toMatchObject(expected);
  });

  it('not if limits.duration allows it', async () => {
    const body: Body = (ask) => ask.person('bea', { remind: '4h' }).confirm('ok', { timeout: '2d' });
    const { start } = serve(body, { limits: { duration: '3d' } });
    expect((await start(false)).failure).toBeUndefined();
  });
});

describe('the timeout of a flow', () => {
  const idle: Body = (ask) => ask.text('x');

  it('is not cut in silence: above maxTimeoutMs it is refused, on a server and in testFlow', async () => {
    expect(() => serve(idle, { timeout: '3d' })).toThrow(/3d.*1d/);
    const tool = flow({ name: 'x', timeout: '3d' }, idle);
    await expect(testFlow(tool).answer({ x: '1' })).rejects.toThrow(/3d.*1d/);
    const limits = { maxTimeoutMs: 7 * 86_400_000 };
    expect((await testFlow(tool, {}, { limits }).answer({ x: '1' })).result).toBe('1');
    const { start, after } = serve(idle, { timeout: '3d' }, limits);
    const { header } = await start();
    expect(await after(2 * 86_400_000, header.id)).toMatchObject({ state: 'waiting_user' });
    expect(await after(86_400_000, header.id)).toMatchObject({ reason: 'expired' });
  });

  it('makes a session last at least as long, unless the flow says how long it lasts', async () => {
    const { start, after } = serve(idle, { timeout: '2h' });
    const { header } = await start();
    expect(await after(90 * 60_000, header.id)).toMatchObject({ state: 'waiting_user' });
    expect(() => serve(idle, { timeout: '2h', limits: { duration: '1h' } })).toThrow(/2h.*1h/);
    expect(() => serve(idle, { firstQuestion: '2h', limits: { duration: '1h' } })).toThrow(/2h.*1h/);
  });
});
