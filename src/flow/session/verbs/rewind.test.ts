import { describe, expect, it } from 'vitest';
import type { Ask } from '../../authoring/ask.ts';
import { flow } from '../../define.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { Sessions } from '../sessions.ts';
import { settled } from '../turn/turn.ts';
import type { Turn } from '../turn/turn.ts';

const me = { principal: 'me' };

async function played(body: (ask: Ask) => Promise<unknown>, answers: unknown[]) {
  const sessions = new Sessions([flow({ name: 'x' }, body)], { clock: manualClock() });
  let turn = await sessions.start({ ...me, tool: 'x' });
  const session = { ...me, sessionId: turn.header.id };
  const answer = async (value: unknown) => settled(await sessions.answer({ ...session, answers: [{ value }] }));
  for (const value of answers) turn = await answer(value);
  return { sessions, session, turn, answer };
}

const keys = ({ questions }: Turn) => questions.map(({ promptId }) => promptId);

let quotes = 0;
const trip = async (ask: Ask) => {
  const city = await ask.text('city');
  const cls = await ask.choice('cls', ['economy', 'business']);
  const meal = cls === 'business' ? await ask.choice('meal', ['fish', 'meat']) : undefined;
  const bags = await ask.number('bags', cls === 'business' ? { max: 4 } : { max: 1 });
  const price = await ask.step('quote', () => (cls === 'business' ? 900 : 90) + 10 * bags + 0 * ++quotes);
  const ok = await ask.confirm('ok', { message: `Pay ${price}?` });
  return { city, cls, meal, bags, price, ok };
};

describe('going back', () => {
  it('asks the last question again, under a new id', async () => {
    const { sessions, session, answer } = await played(trip, ['Oslo', 'business']);
    expect(keys(await sessions.back(session))).toEqual(['cls~2']);
    expect(keys(await sessions.back(session))).toEqual(['city~2']);
    await expect(sessions.back(session)).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect(keys(await answer('Rome'))).toEqual(['cls~3']);
    expect((await sessions.getState(session)).data).toEqual({ city: 'Rome' });
  });

  it('goes to any question that was answered, and to no other', async () => {
    const { sessions, session } = await played(trip, ['Oslo', 'business', 'fish']);
    await expect(sessions.back({ ...session, key: 'ok' })).rejects.toMatchObject({ code: 'FLOW_INVALID_TRANSITION' });
    expect(keys(await sessions.back({ ...session, key: 'city' }))).toEqual(['city~2']);
    expect((await sessions.getState(session)).history).toEqual([]);
  });
});

describe('changing an answer', () => {
  it('keeps later answers that still hold, drops the rest, and reads again', async () => {
    const { sessions, session, answer, turn } = await played(trip, ['Oslo', 'business', 'fish', 1]);
    expect(turn.questions[0]?.prompt.message).toBe('Pay 910?');
    const before = quotes;
    const edited = await sessions.edit({ ...session, key: 'cls', value: 'economy' });
    expect(edited.questions[0]?.prompt.message).toBe('Pay 100?');
    expect(quotes).toBe(before + 1);
    expect((await answer(true)).result).toEqual({ city: 'Oslo', cls: 'economy', bags: 1, price: 100, ok: true });
  });

  it('asks again what no longer holds', async () => {
    const { sessions, session, answer } = await played(trip, ['Oslo', 'business', 'fish', 3]);
    expect(keys(await sessions.edit({ ...session, key: 'cls', value: 'economy' }))).toEqual(['bags~2']);
    expect((await answer(1)).questions[0]?.prompt.message).toBe('Pay 100?');
  });

  it('rejects an invalid value and changes nothing', async () => {
    const { sessions, session } = await played(trip, ['Oslo', 'business', 'fish']);
    const before = await sessions.getState(session);
    const edited = await sessions.edit({ ...session, key: 'cls', value: 'third' });
    expect(edited).toMatchObject({ accepted: false, verdicts: { cls: { valid: false } } });
    expect(await sessions.getState(session)).toEqual(before);
  });

  it('brings back an answer that was dropped by an earlier change', async () => {
    const { sessions, session } = await played(trip, ['Oslo', 'business', 'fish', 1]);
    await sessions.edit({ ...session, key: 'cls', value: 'economy' });
    const again = await sessions.edit({ ...session, key: 'cls', value: 'business' });
    expect(again.questions[0]?.prompt.message).toBe('Pay 910?');
  });
});

describe('an effect in between', () => {
  const done: string[] = [];
  const effect = (undo: boolean) => async (ask: Ask) => {
    const city = await ask.text('city');
    await ask.step('hold', (step) => void done.push(`hold ${city} ${step.idempotencyKey.slice(0, 4)}`), {
      effect: 'retry',
      ...(undo && { undo: () => void done.push(`free ${city}`) }),
    });
    await ask.step('note', () => void done.push('note'), {
      effect: 'retry',
      ...(undo && { undo: () => void done.push('forget') }),
    });
    return ask.confirm('sure');
  };

  it('that cannot be undone prevents going back', async () => {
    const { sessions, session } = await played(effect(false), ['Oslo']);
    const reason = { code: 'FLOW_INVALID_TRANSITION', message: expect.stringContaining('cannot be undone') };
    await expect(sessions.back(session)).rejects.toMatchObject(reason);
    await expect(sessions.edit({ ...session, key: 'city', value: 'Rome' })).rejects.toMatchObject(reason);
    expect((await sessions.getState(session)).header.state).toBe('waiting_user');
  });

  it('is undone, the last one first, and done again with another idempotency key', async () => {
    done.length = 0;
    const { sessions, session, answer } = await played(effect(true), ['Oslo']);
    expect(keys(await sessions.back(session))).toEqual(['city~2']);
    expect(keys(await answer('Rome'))).toEqual(['sure~2']);
    expect(done.map((word) => word.split(' ').slice(0, 2).join(' '))).toEqual([
      'hold Oslo',
      'note',
      'forget',
      'free Oslo',
      'hold Rome',
      'note',
    ]);
    expect(done[0]?.split(' ')[2]).not.toBe(done[4]?.split(' ')[2]);
  });

  it('is undone when the session is cancelled', async () => {
    done.length = 0;
    const { sessions, session } = await played(effect(true), ['Oslo']);
    expect((await sessions.cancel(session)).header.state).toBe('cancelled');
    expect(done.slice(2)).toEqual(['forget', 'free Oslo']);
  });
});
