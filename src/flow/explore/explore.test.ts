import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { f } from '../authoring/fields.ts';
import { msg } from '../authoring/words.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { explore } from './explore.ts';

let effects = 0;

const book = flow({ name: 'book', input: z.object({ city: z.string().optional() }) }, async (ask, input) => {
  const city = input.city ?? (await ask.text('city', { message: 'Where to?' }));
  const day = await ask.date('day', { message: `When to ${city}?` });
  const travellers = await ask.number('travellers', { min: 1, integer: true });
  const cls = await ask.choice('cls', ['economy', 'business']);
  const meal = cls === 'business' ? await ask.choice('meal', ['fish', 'meat']) : undefined;
  const quote = await ask.step('quote', () => ({ price: ++effects }));
  const ok = await ask.confirm('ok', { message: `Pay ${quote.price}?` });
  return { city, day, travellers, meal, ok };
});

describe('exploring', () => {
  it('finds what is asked, what always is, and stops at the result of a step', async () => {
    const { questions } = await explore(book);
    expect(questions.map(({ spec, always }) => [spec.key, always])).toEqual([
      ...[
        ['city', true],
        ['day', true],
        ['travellers', true],
        ['cls', true],
      ],
      ['meal', false],
    ]);
    expect(effects).toBe(0);
  });

  it('finds what comes next whatever is answered', async () => {
    const { next } = await explore(book);
    expect([...next].map(([key, specs]) => [key, specs.map((spec) => spec.key)])).toEqual([
      ['day', ['travellers']],
      ['travellers', ['cls']],
    ]);
  });

  it('takes six questions in four rounds', async () => {
    const sessions = new Sessions([book]);
    const turn = await sessions.start({ principal: 'me', tool: 'book' });
    const session = { principal: 'me', sessionId: turn.header.id };
    const rounds = [turn.questions.map(({ key }) => key)];
    const answers: Record<string, unknown> = {
      city: 'Oslo',
      day: '2030-05-01',
      travellers: 2,
      cls: 'business',
      meal: 'fish',
    };
    for (let last = turn; last.questions.length > 0 && rounds.length < 9;) {
      last = await sessions.answer({
        ...session,
        answers: last.questions.map(({ promptId, key }) => ({ promptId, value: answers[key] ?? true })),
      });
      rounds.push(last.questions.map(({ key }) => key));
    }
    expect(rounds).toEqual([['city'], ['day', 'travellers', 'cls'], ['meal'], ['ok'], []]);
  });

  it('takes answers to questions that were put ahead in any order', async () => {
    const sessions = new Sessions([book]);
    const { header } = await sessions.start({ principal: 'me', tool: 'book', args: { city: 'Oslo' } });
    const answer = (promptId: string, value: unknown) =>
      sessions.answer({ principal: 'me', sessionId: header.id, answers: [{ promptId, value }] });
    expect((await answer('cls~1', 'third')).verdicts).toMatchObject({ 'cls~1': { valid: false } });
    const turn = await answer('cls~2', 'economy');
    expect(turn.questions.map(({ promptId }) => promptId)).toEqual(['day~1', 'travellers~1']);
    expect((await answer('travellers~1', 2)).questions.map(({ key }) => key)).toEqual(['day']);
    expect((await answer('day~1', '2030-05-01')).questions.map(({ key }) => key)).toEqual(['ok']);
  });

  it('takes forty questions in four rounds', async () => {
    const keys = Array.from({ length: 40 }, (_, at) => `q${at}` as 'q');
    const survey = flow({ name: 'survey' }, async (ask) => {
      for (const key of keys) await ask.choice(key, ['never', 'rarely', 'often', 'always']);
      return 'thanks';
    });
    const sessions = new Sessions([survey]);
    let turn = await sessions.start({ principal: 'me', tool: 'survey' });
    let rounds = 0;
    for (; turn.questions.length > 0; rounds++) {
      const answers = turn.questions.map(({ promptId }) => ({ promptId, value: 'often' }));
      turn = await sessions.answer({ principal: 'me', sessionId: turn.header.id, answers });
    }
    expect(turn.result).toBe('thanks');
    expect(rounds).toBe(4);
  });

  it('sees a branch that needs two answers at once', async () => {
    const both = flow({ name: 'both' }, async (ask) => {
      const [a, b] = [await ask.confirm('a'), await ask.confirm('b')];
      if (!a && !b) await ask.text('why');
      await ask.text('end');
    });
    const { questions, next } = await explore(both);
    expect(questions.map(({ spec, always }) => [spec.key, always])).toEqual([
      ...[
        ['a', true],
        ['b', true],
        ['end', true],
      ],
      ['why', false],
    ]);
    expect([...next.keys()]).toEqual(['a', 'why']);
  });

  it('keeps alone what wants to be, and what people must say themselves', async () => {
    const shy = flow({ name: 'shy' }, async (ask) => {
      await ask.text('a');
      await ask.text('b', { alone: true });
      await ask.text('c');
      await ask.confirm('d', { by: 'human' });
      await ask.form('e', { x: f.text(), y: f.number() });
      await ask.text('g', { message: msg('hello') });
    });
    const { next } = await explore(shy);
    expect([...next.keys()]).toEqual(['e']);
  });

  it('puts nothing ahead that depends on the time or on chance', async () => {
    const timely = flow({ name: 'timely' }, async (ask) => {
      await ask.text('a');
      await ask.date('b', { min: ask.today() });
      await ask.text('c', { message: `Ticket ${ask.uuid()}?` });
      await ask.text('d');
    });
    expect([...(await explore(timely)).next.keys()]).toEqual(['c']);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('not with these'))],
    ['waits for ever', () => new Promise<never>(() => {})],
    [
      'asks for ever',
      async (ask: { text(key: 'x'): Promise<unknown> }) => {
        for (;;) await ask.text('x');
      },
    ],
  ] as const)('ends with a body that %s', async (_, body) => {
    const { questions } = await explore(flow({ name: 'odd' }, body as never));
    expect(questions.length).toBeLessThanOrEqual(200);
  });
});
