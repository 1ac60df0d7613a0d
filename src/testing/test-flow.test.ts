import { describe, expect, it } from 'vitest';
import { flow } from '../flow/define.ts';
import { manualClock } from '../flow/testing/manual-clock.ts';
import { unanswered } from '../flow/testing/play-flow.ts';
import { testFlow } from './test-flow.ts';

/** What takes bookings, each key once. */
const sink = new Map<string, string>();

const book = flow({ name: 'book' }, async (ask, input) => {
  const city = (input['city'] as string | undefined) ?? (await ask.text('city'));
  const [bag, seat] = await Promise.all([ask.confirm('bag'), ask.choice('seat', ['aisle', 'window'])]);
  const price = await ask.step('quote', async () => city.length * 10);
  if (!(await ask.confirm('ok', { message: `Pay ${price}?` }))) return { booked: false };
  await ask.step('hold', (step) => sink.set(`hold ${step.idempotencyKey}`, city).size > 0, { effect: 'retry' });
  const ref = await ask.step('book', (step) => (sink.set(step.idempotencyKey, city), step.idempotencyKey), {
    effect: 'once',
    check: (step) => (sink.has(step.idempotencyKey) ? step.idempotencyKey : undefined),
  });
  const mail = await ask.text('mail', { required: false });
  return { booked: true, city, bag, seat, mail, ref, at: ask.now(), luck: Math.random() };
});

const ANSWERS = { city: 'Oslo', bag: true, seat: 'aisle', ok: true, mail: 'a@b.c' };

describe('testFlow', () => {
  it('tries a step again without the pauses of its policy', async () => {
    const attempts: number[] = [];
    const stubborn = flow({ name: 'stubborn' }, (ask) =>
      ask.step(
        'work',
        ({ attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('busy');
          return attempt;
        },
        { retry: { attempts: 3, pause: '1h' } },
      ),
    );
    expect(await testFlow(stubborn).answer({})).toMatchObject({ result: 3, failure: undefined });
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('plays a flow with answers by name', async () => {
    const played = await testFlow(book).answer(ANSWERS);
    expect(played.result).toMatchObject({ booked: true, city: 'Oslo', bag: true, seat: 'aisle', mail: 'a@b.c' });
    expect(played.asked.map(({ key }) => key)).toEqual(['city', 'bag', 'seat', 'ok', 'mail']);
    expect(played.rounds).toBe(4);
    expect(played.open).toEqual([]);
  });

  it('stops where no answer is given, and takes arguments and refusals', async () => {
    const { ok: _, mail: _mail, ...some } = ANSWERS;
    expect((await testFlow(book).answer(some)).open.map(({ key }) => key)).toEqual(['ok']);
    const { city: _city, ...rest } = some;
    const { result, asked } = await testFlow(book, { city: 'Rome' }).answer({ ...rest, ok: unanswered('declined') });
    expect(result).toEqual({ booked: false });
    expect(asked[0]?.key).toBe('bag');
  });

  it('says which answer is refused', async () => {
    await expect(testFlow(book).answer({ ...ANSWERS, seat: 'roof' })).rejects.toThrow(/seat~1 was refused: Not one/);
  });

  it('comes to the same result wherever it crashes, and does nothing twice', async () => {
    sink.clear();
    const { crashes, result } = await testFlow(book).crashEverywhere(ANSWERS);
    expect(result).toMatchObject({ booked: true, city: 'Oslo' });
    expect(crashes.length).toBeGreaterThan(15);
    expect(crashes).toEqual(
      expect.arrayContaining(['after step book', 'before step hold', 'before create', 'after commit']),
    );
    // All plays are of one session with one id, so that all of them together have made one booking.
    expect([...sink.keys()].filter((key) => !key.startsWith('hold'))).toHaveLength(1);
    expect(sink.size).toBe(2);
  });

  it('finds a flow that a crash makes do something else', async () => {
    let calls = 0;
    const careless = flow({ name: 'careless' }, async (ask) => {
      await ask.text('a');
      return ask.step('count', () => ++calls, { effect: 'retry' });
    });
    await expect(testFlow(careless).crashEverywhere({ a: 'x' })).rejects.toThrow(/A crash .* leads to/);
  });

  it.each([1, 2, 3])('gives no false alarm for effects that run side by side, %i of them', async (count) => {
    const keys = (['left', 'right', 'third'] as const).slice(0, count);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const together = flow({ name: 'together' }, async (ask) => {
      const who = await ask.text('who');
      const done = await Promise.all(
        keys.map((key) => ask.step(key, async () => (await turn(), key), { effect: 'retry' })),
      );
      return { who, done, last: await ask.step('last', async () => (await turn(), 'last'), { effect: 'retry' }) };
    });
    const { crashes, result } = await testFlow(together).crashEverywhere({ who: 'Ada' });
    expect(result).toEqual({ who: 'Ada', done: keys, last: 'last' });
    expect(crashes).toEqual(expect.arrayContaining(keys.map((key) => `after step ${key}`)));
  });

  it('replays a journal of the past', async () => {
    const { journal, result } = await testFlow(book).answer(ANSWERS);
    expect(await testFlow(book).replay(journal)).toMatchObject({ rest: 'ended', result, unasked: [] });
    const changed = flow({ name: 'book' }, async (ask) => [
      await ask.text('city', { min: 9 }),
      await ask.text('other'),
    ]);
    expect(await testFlow(changed).replay(journal)).toMatchObject({
      rest: 'asks',
      open: ['city'],
      refused: { city: 'Must have at least 9 characters' },
      unasked: expect.arrayContaining(['bag', 'book']),
    });
  });
});

it('begins at the time of the clock that is given, and leaves it at the end of the last sleep', async () => {
  const start = Date.UTC(2026, 11, 24, 12);
  const clock = manualClock(start);
  const wait = flow({ name: 'wait', limits: { duration: '30d' } }, async (ask) => {
    const from = ask.today();
    await ask.sleep('week', '7d');
    return { from, to: ask.today(), seen: await ask.step('look', () => clock.now() - start, { effect: 'retry' }) };
  });
  const week = 7 * 24 * 3_600_000;
  const result = { from: '2026-12-24', to: '2026-12-31', seen: week };
  expect((await testFlow(wait, {}, { clock }).answer({})).result).toEqual(result);
  expect(clock.now() - start).toBe(week);
});

it('plays every crash from the same time on', async () => {
  const clock = manualClock(Date.UTC(2026, 11, 24));
  const wait = flow({ name: 'wait', limits: { duration: '30d' } }, async (ask) => {
    await ask.sleep('week', '7d');
    return ask.today();
  });
  expect(await testFlow(wait, {}, { clock }).crashEverywhere({})).toMatchObject({ result: '2026-12-31' });
  expect(clock.now()).toBe(Date.UTC(2026, 11, 24));
});

it('answers go by the keys of loops and scopes, and three days of sleep pass at once, as docs/testing.md says', async () => {
  const order = flow({ name: 'order', limits: { duration: '7d' } }, async (ask) => {
    let sum = 0;
    for (const item of ['pears', 'plums'])
      sum += await ask.scope(item).number('count', { message: `How many ${item}?` });
    for (let box = 1; box <= 2; box++) sum += await ask.number('extra', { message: `How many more in box ${box}?` });
    await ask.sleep('ripen', '3d');
    return sum;
  });
  const given = { 'pears.count': 1, 'plums.count': 2, extra: 3, 'extra#2': 4 };
  expect((await testFlow(order).answer(given)).result).toBe(10);
  await testFlow(order).crashEverywhere(given);
  const clock = manualClock(Date.UTC(2026, 11, 24));
  expect((await testFlow(order, {}, { clock }).answer(() => 1)).result).toBe(4);
  expect(new Date(clock.now()).toISOString().slice(0, 10)).toBe('2026-12-27');
});
