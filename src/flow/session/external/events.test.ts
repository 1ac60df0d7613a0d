import { describe, expect, it } from 'vitest';
import type { Ask } from '../../authoring/ask.ts';
import type { AwaitedEvent } from '../../authoring/awaited-event.ts';
import { flow } from '../../define.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { testFlow } from '../../../testing/test-flow.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { FlowLimits } from '../context/flow-limits.ts';
import { deliverToUrl } from './deliver-event.ts';
import { Sessions } from '../sessions.ts';
import { settled } from '../turn/turn.ts';
import type { Turn } from '../turn/turn.ts';

const me = { principal: 'me' };
const PAID = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };

function cluster(body: (ask: Ask) => Promise<unknown>, limits: Partial<FlowLimits> = {}) {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const tool = flow({ name: 'x', limits: { duration: '2d' } }, body);
  const node = () => {
    const sessions = new Sessions([tool], { clock, store, limits, log: createLog({ level: 'silent' }) });
    const turns: Turn[] = [];
    sessions.on((event) => void (event.kind === 'turn' && turns.push(event.turn)));
    return { sessions, turns };
  };
  return { clock, store, node, ...node() };
}

async function started(sessions: Sessions) {
  const turn = await sessions.start({ ...me, tool: 'x' });
  const { id: sessionId } = turn.header;
  return { turn, session: { ...me, sessionId }, deliver: toDeliver(sessions, sessionId) };
}

const toDeliver = (sessions: Sessions, sessionId: string) => (event: string, value?: unknown) =>
  sessions.deliver({ sessionId, event, value });

const payment = async (ask: Ask) => {
  const { sum } = (await ask.event('paid', PAID)) as { sum: number };
  return { sum, note: await ask.text('note') };
};

describe('an event', () => {
  it('needs only the store while it is awaited, and continues the session when it is delivered', async () => {
    const { sessions, turns, store } = cluster(payment);
    const { turn, session, deliver } = await started(sessions);
    expect(turn).toMatchObject({ questions: [], header: { state: 'active', waits: [{ key: 'paid', kind: 'event' }] } });
    const asked = settled(turn);
    expect(await deliver('paid', { sum: 7 })).toEqual({ event: 'paid' });
    expect((await asked).questions.map(({ key }) => key)).toEqual(['note']);
    expect(turns.map(({ questions }) => questions.length)).toEqual([1]);
    const { entries } = (await store.load(session.sessionId))!;
    expect(entries.filter(({ t }) => t === 'evt')).toMatchObject([{ k: 'paid', v: { sum: 7 } }]);
    const last = await sessions.answer({ ...session, answers: [{ promptId: 'note~1', value: 'x' }] });
    expect(last.result).toEqual({ sum: 7, note: 'x' });
  });

  it('that does not fit is refused, and nothing is written', async () => {
    const { sessions, store } = cluster(payment);
    const { session, deliver } = await started(sessions);
    const before = await store.load(session.sessionId);
    await expect(deliver('paid', { sum: 'seven' })).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    await expect(deliver('paid')).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    expect(await store.load(session.sessionId)).toEqual(before);
  });

  it('that is too large, too deep or malicious is refused', async () => {
    const { sessions } = cluster(async (ask) => ask.event('any'), { eventBytes: 1000 });
    const { deliver } = await started(sessions);
    const deep = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`) as unknown;
    for (const value of ['x'.repeat(1001), { text: 'x'.repeat(1001) }, deep, JSON.parse('{"__proto__":{"a":1}}')]) {
      await expect(deliver('any', value)).rejects.toMatchObject({ code: 'FLOW_VALIDATION_FAILED' });
    }
  });

  it('is taken once: again with the same content changes nothing, with another it is refused', async () => {
    const { sessions, store } = cluster(payment);
    const { session, deliver } = await started(sessions);
    await deliver('paid', { sum: 7 });
    const { rev } = (await store.load(session.sessionId))!.header;
    expect(await deliver('paid', { sum: 7 })).toEqual({ event: 'paid', again: true });
    const address = { sessionId: session.sessionId, key: 'paid' };
    expect(await deliverToUrl(sessions, address, () => ({ sum: 7 }))).toEqual({ event: 'paid', again: true });
    await expect(deliverToUrl(sessions, address, () => ({ sum: 8 }))).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
      message: expect.stringContaining('already delivered with other content') as string,
    });
    await expect(deliverToUrl(sessions, { ...address, key: 'other' }, () => 1)).rejects.toMatchObject({
      message: expect.stringContaining('no longer awaited') as string,
    });
    expect((await store.load(session.sessionId))!.header.rev).toBe(rev);
  });

  it('of a session that has ended, has expired or never was is refused', async () => {
    const { sessions, clock } = cluster(payment);
    const first = await started(sessions);
    await sessions.cancel(first.session);
    await expect(first.deliver('paid', { sum: 7 })).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
      message: expect.stringContaining('it has ended') as string,
    });
    const second = await started(sessions);
    clock.move(3 * 86_400_000);
    await expect(second.deliver('paid', { sum: 7 })).rejects.toMatchObject({ code: 'FLOW_SESSION_EXPIRED' });
    await expect(toDeliver(sessions, 'session_none')('paid', 1)).rejects.toMatchObject({
      code: 'FLOW_SESSION_NOT_FOUND',
    });
  });

  it('that comes before it is waited for is kept, up to a limit', async () => {
    const body = async (ask: Ask) => {
      await ask.text('first', { alone: true });
      const seen: unknown[] = [];
      for (let at = 0; at < 2; at++) seen.push(await ask.event('status'));
      return seen;
    };
    const { sessions } = cluster(body, { earlyEvents: 2 });
    const { session, deliver } = await started(sessions);
    expect(await deliver('status', 'a')).toEqual({ event: 'status' });
    expect(await deliver('status', 'b')).toEqual({ event: 'status#2' });
    await expect(deliver('status', 'c')).rejects.toMatchObject({ details: { limit: 'earlyEvents' } });
    const last = await sessions.answer({ ...session, answers: [{ promptId: 'first~1', value: 'x' }] });
    expect(last.result).toEqual(['a', 'b']);
  });

  it('that has lost a race is refused', async () => {
    const { sessions, clock } = cluster(async (ask) => {
      const won = await Promise.race([ask.event('paid', PAID), ask.sleep('patience', '1h')]);
      return [won, await ask.text('note')];
    });
    const { deliver } = await started(sessions);
    clock.move(3_600_000);
    await sessions.sweep();
    await expect(deliver('paid', { sum: 7 })).rejects.toMatchObject({
      code: 'FLOW_VALIDATION_FAILED',
      message: expect.stringContaining('no longer awaited') as string,
    });
  });

  it('that wins a race withdraws the question', async () => {
    const { sessions, turns } = cluster(async (ask) => {
      const won = await Promise.race([ask.confirm('paid-by-hand'), ask.event('paid', PAID)]);
      return [won, await ask.text('note')];
    });
    const { turn, session, deliver } = await started(sessions);
    expect(turn.questions.map(({ key }) => key)).toEqual(['paid-by-hand']);
    await deliver('paid', { sum: 7 });
    expect(turns.at(-1)!.questions.map(({ key }) => key)).toEqual(['note']);
    const late = sessions.answer({ ...session, answers: [{ promptId: 'paid-by-hand~1', value: true }] });
    await expect(late).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
  });

  it('that takes too long is an error that ask.try sees, and comes too late after that', async () => {
    const { sessions, clock, turns } = cluster(async (ask) => {
      const tried = await ask.try(ask.event('paid', PAID, { timeout: '1h' }));
      return [tried, await ask.text('note')];
    });
    const { session, deliver } = await started(sessions);
    clock.move(3_600_000);
    await sessions.sweep();
    expect(turns.at(-1)!.questions).toHaveLength(1);
    await expect(deliver('paid', { sum: 7 })).rejects.toMatchObject({
      message: expect.stringContaining('came too late') as string,
    });
    const last = await sessions.answer({ ...session, answers: [{ promptId: 'note~1', value: 'x' }] });
    expect(last.result).toEqual([{ ok: false, reason: 'timeout' }, 'x']);
  });

  it('can come while the step runs that brings it about, and in another process', async () => {
    let open!: (value: string) => void;
    const passed = new Promise<string>((resolve) => (open = resolve));
    const seen: AwaitedEvent<unknown>[] = [];
    const { sessions, node } = cluster(async (ask) => {
      const paid = ask.event('paid', PAID);
      seen.push(paid);
      const bill = await ask.step('bill', () => passed, { effect: 'retry' });
      return [bill, await paid];
    });
    const { turn, session } = await started(sessions);
    expect(seen[0]!.key).toBe('paid');
    const last = settled(turn);
    expect(await toDeliver(node().sessions, session.sessionId)('paid', { sum: 7 })).toEqual({ event: 'paid' });
    open('sent');
    expect((await last).result).toEqual(['sent', { sum: 7 }]);
  });

  it('too often in a second is refused', async () => {
    const { sessions } = cluster(payment, { respondsPerSecond: 3 });
    const { deliver } = await started(sessions);
    for (let at = 0; at < 3; at++) await expect(deliver('paid', at)).rejects.toBeDefined();
    await expect(deliver('paid', { sum: 7 })).rejects.toMatchObject({ code: 'FLOW_LIMIT' });
  });

  it('is kept when the user goes back to before it', async () => {
    const { sessions } = cluster(async (ask) => {
      const name = await ask.text('name', { alone: true });
      const paid = await ask.event('paid');
      return [name, paid, await ask.text('note')];
    });
    const { session, deliver } = await started(sessions);
    const answer = (promptId: string, value: string) => sessions.answer({ ...session, answers: [{ promptId, value }] });
    await answer('name~1', 'Ada');
    await deliver('paid', 7);
    const back = await sessions.back(session);
    expect(back.questions.map(({ promptId }) => promptId)).toEqual(['name~2']);
    const next = await answer('name~2', 'Eve');
    expect(next.questions.map(({ key }) => key)).toEqual(['note']);
    expect((await answer(next.questions[0]!.promptId, 'x')).result).toEqual(['Eve', 7, 'x']);
  });
});

describe('testFlow', () => {
  it('delivers events that are among the answers, wherever the process dies', async () => {
    const tool = flow({ name: 'x' }, payment);
    const { result, crashes } = await testFlow(tool).crashEverywhere({ paid: { sum: 7 }, note: 'x' });
    expect(result).toEqual({ sum: 7, note: 'x' });
    expect(crashes.length).toBeGreaterThan(5);
  });
});
