import { describe, expect, it } from 'vitest';
import { flow } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Sessions } from './sessions.ts';
import { settled } from './turn/turn.ts';
import type { GivenAnswer } from './context/requests.ts';

const me = { principal: 'me' };

const book = flow({ name: 'book', description: 'Book a trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const cls = await ask.choice('cls', ['economy', 'business'], { message: 'Class?' });
  const quote = await ask.step('quote', async () => ({ price: city.length * 10 }));
  if (!(await ask.confirm('ok', { message: `Pay ${quote.price}?` }))) return { booked: false };
  const { key } = await ask.step('book', async (step) => ({ key: step.idempotencyKey }), { effect: 'retry' });
  return { booked: true, city, cls, key };
});

async function started(flows = [book], tool = 'book', args?: Record<string, unknown>) {
  const clock = manualClock();
  const sessions = new Sessions(flows, { clock });
  const turn = await sessions.start({ ...me, tool, args });
  const session = { ...me, sessionId: turn.header.id };
  const answer = (...answers: GivenAnswer[]) => sessions.answer({ ...session, answers });
  return { sessions, clock, turn, session, answer };
}

describe('a session', () => {
  it('asks, answers, works, and ends with the result', async () => {
    const { turn, answer } = await started();
    expect(turn.header.state).toBe('waiting_user');
    expect(turn.questions).toMatchObject([{ promptId: 'city~1', prompt: { type: 'text', message: 'Where to?' } }]);
    expect((await answer({ value: 'Paris' })).questions[0]?.key).toBe('cls');
    expect((await answer({ value: 'economy' })).questions[0]?.prompt.message).toBe('Pay 50?');
    const working = await answer({ value: true });
    expect(working).toMatchObject({ accepted: true, header: { state: 'processing' }, questions: [] });
    const last = await settled(working);
    expect(last.header.state).toBe('completed');
    expect(last.result).toMatchObject({ booked: true, city: 'Paris', cls: 'economy' });
  });

  it('says what is wrong with an answer, and asks again under a new id', async () => {
    const { answer } = await started();
    const turn = await answer({ promptId: 'city~1', value: 'P' });
    expect(turn.accepted).toBe(false);
    expect(turn.verdicts).toEqual({ 'city~1': { valid: false, error: 'Must have at least 2 characters' } });
    expect(turn.questions[0]).toMatchObject({ promptId: 'city~2', complaint: { error: expect.any(String) } });
    expect((await answer({ promptId: 'city~2', value: 'Paris' })).accepted).toBe(true);
  });

  it('takes the same answer again, and no other', async () => {
    const { answer } = await started();
    await answer({ promptId: 'city~1', value: 'Paris' });
    const again = await answer({ promptId: 'city~1', value: 'Paris' });
    expect(again).toMatchObject({ accepted: true, questions: [{ promptId: 'cls~1' }] });
    await expect(answer({ promptId: 'city~1', value: 'Rome' })).rejects.toMatchObject({
      code: 'FLOW_INVALID_TRANSITION',
    });
  });

  it('never asks for what came as an argument', async () => {
    const { turn, answer } = await started([book], 'book', { city: 'Oslo', cls: 'business' });
    expect(turn.questions[0]?.prompt.message).toBe('Pay 40?');
    expect(await answer({ value: false })).toMatchObject({ result: { booked: false } });
  });

  it('is unknown to everybody but its owner', async () => {
    const { sessions, session } = await started();
    const error = { code: 'FLOW_SESSION_NOT_FOUND', message: `Session not found: ${session.sessionId}` };
    const other = { ...session, principal: 'you' };
    await expect(sessions.getState(other)).rejects.toMatchObject(error);
    await expect(sessions.answer({ ...other, answers: [{ value: 'x' }] })).rejects.toMatchObject(error);
    await expect(sessions.cancel(other)).rejects.toMatchObject(error);
    expect((await sessions.getState(session)).header.state).toBe('waiting_user');
  });

  it('shows its history, and nothing of it once it has ended', async () => {
    const { sessions, session, answer } = await started();
    await answer({ value: 'Paris' });
    const view = await sessions.getState(session);
    expect(view.history).toMatchObject([
      { turnId: 0, prompt: { message: 'Where to?' }, response: { value: 'Paris' }, timestamp: expect.any(Number) },
    ]);
    expect(view.data).toEqual({ city: 'Paris' });
    await sessions.cancel(session);
    expect(await sessions.getState(session)).toMatchObject({
      header: { state: 'cancelled' },
      history: [],
      questions: [],
      data: {},
    });
    await expect(sessions.cancel(session)).rejects.toMatchObject({ code: 'FLOW_ALREADY_CANCELLED' });
  });

  it('warns, and then expires', async () => {
    const { sessions, session, clock, answer } = await started();
    const events: string[] = [];
    sessions.on(({ kind }) => void events.push(kind));
    clock.move(269_000);
    await sessions.sweep();
    expect(events).toEqual([]);
    clock.move(2000);
    await sessions.sweep();
    await sessions.sweep();
    expect(events).toEqual(['warning']);
    clock.move(30_000);
    await sessions.sweep();
    expect(events).toEqual(['warning', 'expired']);
    await expect(answer({ value: 'Paris' })).rejects.toMatchObject({ code: 'FLOW_SESSION_EXPIRED' });
    await expect(sessions.getState(session)).rejects.toMatchObject({ code: 'FLOW_SESSION_EXPIRED' });
  });
});
