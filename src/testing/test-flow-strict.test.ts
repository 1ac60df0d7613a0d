// Nothing is left unplayed in silence: answers that nobody asked for, answers that are missing, undos that fail.
import { describe, expect, it } from 'vitest';
import type { Ask } from '../flow/authoring/ask.ts';
import { flow } from '../flow/define.ts';
import { unanswered } from '../flow/testing/play-flow.ts';
import { testFlow } from './test-flow.ts';

const trip = flow({ name: 'trip' }, async (ask: Ask) => {
  const city = await ask.text('city');
  const ok = await ask.confirm('ok');
  const paid = ok ? await ask.event('paid') : undefined;
  return { city, ok, paid };
});

describe('answers of a test', () => {
  it('answers of a test that the flow never asks for are named, with the question at which it stopped', async () => {
    const play = (answers: Record<string, unknown>) => testFlow(trip).answer(answers);
    await expect(play({ city: 'Oslo', okay: true })).rejects.toThrow('never asked for okay; it stopped at ok');
    await expect(play({ city: 'Oslo', ok: false, paid: 1 })).rejects.toThrow('never asked for paid');
    await expect(play({ cty: 'Oslo' })).rejects.toThrow('never asked for cty; it stopped at city');
    expect((await play({ city: 'Oslo', ok: true })).waiting).toEqual(['paid']);
    expect((await play({ city: 'Oslo', ok: true, paid: 1 })).result).toEqual({ city: 'Oslo', ok: true, paid: 1 });
  });

  it('answers of a test that are missing stop crashEverywhere, which would test nothing after them', async () => {
    const crash = (answers: Record<string, unknown>) => testFlow(trip).crashEverywhere(answers);
    await expect(crash({})).rejects.toThrow('no answer to city');
    await expect(crash({ city: 'Oslo' })).rejects.toThrow('no answer to ok');
    await expect(crash({ city: 'Oslo', ok: true })).rejects.toThrow('no answer to paid');
    await expect(crash({ city: 'Oslo', ok: true, payed: 1 })).rejects.toThrow('never asked for payed');
    expect((await crash({ city: 'Oslo', ok: false })).result).toMatchObject({ ok: false });
  });

  it('answers of a test may be for a question that lost a race', async () => {
    const race = flow({ name: 'race' }, (ask) =>
      Promise.race([ask.person('bea').text('one'), ask.person('cal').text('other')]),
    );
    expect((await testFlow(race).answer({ one: 'b', other: 'c' })).result).toBe('b');
  });

  it('answers of a test with options that do not exist are refused', () => {
    expect(() => testFlow(trip, {}, { clok: 1 } as object)).toThrow(/clok as an option of testFlow/);
  });
});

describe('answers of a client under test', () => {
  const quiz = flow({ name: 'quiz' }, async (ask) => [await ask.text('city'), await ask.person('bea').text('one')]);

  it.each(['flow', 'form', 'page', 'relay'] as const)(
    'answers of a client under test are all asked for, or the test fails: %s',
    async (kind) => {
      const played = testFlow(quiz).asClient(kind);
      await expect(played.answer({ city: 'Oslo', one: 'b', citty: 'x' })).rejects.toThrow('never asked for citty');
      expect((await testFlow(quiz).asClient(kind).answer({ city: 'Oslo', one: 'b' })).isError).toBe(false);
    },
  );

  it.each(['flow', 'form', 'page', 'relay', 'task'] as const)(
    'answers of a client under test may be those of a race of two people: %s',
    async (kind) => {
      const race = flow({ name: 'race' }, async (ask) => {
        const first = await Promise.race([ask.person('bea').text('one'), ask.person('cal').text('other')]);
        return { first, last: await ask.text('last') };
      });
      const { result } = await testFlow(race).asClient(kind).answer({ one: 'b', other: 'c', last: 'z' });
      expect(result).toEqual({ first: 'b', last: 'z' });
    },
  );
});

describe('an undo in a test', () => {
  const holding = (undo: () => unknown) =>
    flow({ name: 'hold' }, async (ask) => {
      await ask.step('hold', () => 'h1', { effect: 'retry', undo });
      if (!(await ask.confirm('ok'))) throw new Error('No');
      return 'kept';
    });

  it('an undo in a test is tried again like on a server, and its failures are shown', async () => {
    let tries = 0;
    const flaky = holding(() => {
      if (++tries < 3) throw new Error(`away ${tries}`);
    });
    const { undos, notUndone, failure } = await testFlow(flaky).answer({ ok: false });
    expect(failure?.message).toBe('No');
    expect(undos).toEqual([{ key: 'hold', error: 'away 1' }, { key: 'hold', error: 'away 2' }, { key: 'hold' }]);
    expect(notUndone).toEqual([]);
  });

  it('an undo in a test that never succeeds is named', async () => {
    const broken = holding(() => Promise.reject(new Error('gone')));
    const { undos, notUndone } = await testFlow(broken).answer({ ok: false });
    expect(notUndone).toEqual(['hold']);
    expect(undos).toHaveLength(10);
  });
});

it('each test has idempotency keys of its own, and the plays of crashEverywhere have the same', async () => {
  const keys = new Set<string>();
  const pay = flow({ name: 'pay' }, (ask) =>
    ask.step('pay', ({ idempotencyKey }) => void keys.add(idempotencyKey), { effect: 'retry' }),
  );
  await testFlow(pay).answer({});
  await testFlow(pay).answer({});
  expect(keys.size).toBe(2);
  await testFlow(pay).crashEverywhere({});
  expect(keys.size).toBe(3);
});

it('a question that is left to time out does what it does on a server', async () => {
  const asking = (timeout: '1m' | undefined) =>
    flow({ name: 'x', timeout: '30s' }, (ask) =>
      ask.choice('speed', ['slow', 'fast'], { default: 'slow', ...(timeout && { timeout, onTimeout: 'default' }) }),
    );
  expect((await testFlow(asking('1m')).answer({ speed: unanswered('timeout') })).result).toBe('slow');
  const expired = await testFlow(asking(undefined)).answer({ speed: unanswered('timeout') });
  expect(expired).toMatchObject({ result: undefined, failure: { name: 'FLOW_SESSION_EXPIRED' } });
});
