import { describe, expect, it } from 'vitest';
import { f, flow, msg } from '../../_entries/flow.ts';
import { unanswered } from '../../flow/testing/play-flow.ts';
import { testFlow } from '../test-flow.ts';
import { CLIENT_PROFILES } from './client-profiles.ts';
import type { ClientKind } from './client-profiles.ts';

const order = flow({ name: 'order' }, async (ask) => {
  const dish = await ask.choice('dish', [
    { value: 1, label: 'Soup' },
    { value: 2, label: 'Pie' },
  ]);
  const sides = await ask.choices('sides', ['bread', 'salad', 'rice'], { required: false });
  const { name, table } = await ask.form('guest', { name: f.text(), table: f.number({ integer: true }) });
  const day = await ask.date('day', { message: msg('When?'), alone: true });
  const tip = await ask.number('tip', { required: false });
  await ask.step('cook', async () => dish, { effect: 'once', check: async () => dish });
  return (await ask.confirm('ok', { message: `Serve ${dish} to ${name}?` }))
    ? { dish, sides, name, table, day, tip }
    : 'no';
});
const ANSWERS = { dish: 2, sides: ['bread', 'rice'], guest: { name: 'Ada', table: 4 }, day: '2030-01-02', ok: true };
const SERVED = { dish: 2, sides: ['bread', 'rice'], name: 'Ada', table: 4, day: '2030-01-02' };
const kinds = Object.keys(CLIENT_PROFILES) as ClientKind[];
const forms = kinds.filter((kind) => (CLIENT_PROFILES[kind].shows as readonly string[]).includes('form'));

describe('asClient', () => {
  it.each(kinds)('%s: the same answers give the same result, and every step is run once', async (kind) => {
    const played = await testFlow(order).asClient(kind).answer(ANSWERS);
    expect(played).toMatchObject({ result: SERVED, isError: false });
    expect(played.steps.map(({ key }) => key)).toEqual(['cook']);
  });

  it('tells by which way it was asked, and whether anything was kept', async () => {
    const seen = await Promise.all(kinds.map((kind) => testFlow(order).asClient(kind).answer(ANSWERS)));
    expect(Object.fromEntries(seen.map(({ ways, kept }, at) => [kinds[at], [ways.join(), kept]]))).toEqual({
      flow: ['prompt', true],
      form: ['form', true],
      'plain-form': ['form', true],
      'input-required': ['form', false],
      task: ['form', true],
      page: ['page', true],
      relay: ['model', true],
      arguments: ['', true],
    });
  });

  it('shows plain forms to clients that know no others', async () => {
    const { asked } = await testFlow(order).asClient('plain-form').answer(ANSWERS);
    expect(asked).toEqual(expect.arrayContaining(['sides: bread', 'sides: salad', 'sides: rice']));
  });

  it.each([...forms, 'page', 'relay'] as const)('%s: a refusal is one', async (kind) => {
    const { result } = await testFlow(order)
      .asClient(kind)
      .answer({ ...ANSWERS, ok: unanswered('declined') });
    expect(result).toBe('no');
  });

  it.each(kinds)('%s: says which question has no answer, and which answer is refused', async (kind) => {
    const { day: _, ...some } = ANSWERS;
    const missing = await testFlow(order).asClient(kind).answer(some).catch(String);
    expect(kind === 'arguments' ? (missing as { result: string }).result : missing).toMatch(/day: When\?/);
    const wrong = await testFlow(order)
      .asClient(kind)
      .answer({ ...ANSWERS, dish: 3 })
      .catch(String);
    expect(kind === 'arguments' ? (wrong as { isError: boolean }).isError : /dish|page/.test(String(wrong))).toBe(true);
  });

  it('gives up where a call asks more often than its client takes part in', async () => {
    const twice = flow({ name: 'twice' }, async (ask) => [
      await ask.text('a', { alone: true }),
      await ask.text('b', { alone: true }),
    ]);
    const played = testFlow(twice).asClient('form', { maxRounds: 1 }).answer({ a: 'x', b: 'y' });
    await expect(played).rejects.toThrow('gave up after 1 rounds');
  });

  it('knows no other kinds', async () => {
    await expect(
      testFlow(order)
        .asClient('fax' as ClientKind)
        .answer({}),
    ).rejects.toThrow('there is no fax');
  });
});
