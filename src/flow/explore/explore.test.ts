import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Ask } from '../authoring/ask.ts';
import { f } from '../authoring/fields.ts';
import { msg } from '../question/question.ts';
import { flow } from '../define.ts';
import type { AnyFlow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import { explore } from './explore.ts';
import { toExploredFlows } from './exploration.ts';

let effects = 0;

const book = flow({ name: 'book', input: z.object({ city: z.string().optional() }) }, async (ask, input) => {
  const city = input.city ?? (await ask.text('city', { message: 'Where to?' }));
  const day = await ask.date('day', { message: `When to ${city}?`, ahead: true });
  const travellers = await ask.number('travellers', { min: 1, integer: true, ahead: true });
  const cls = await ask.choice('cls', ['economy', 'business'], { ahead: true });
  const meal = cls === 'business' ? await ask.choice('meal', ['fish', 'meat']) : undefined;
  const quote = await ask.step('quote', () => ({ price: ++effects }));
  const ok = await ask.confirm('ok', { message: `Pay ${quote.price}?` });
  return { city, day, travellers, meal, ok };
});

/** As they are served after `parley explore`. */
async function exploredSessions(tool: AnyFlow): Promise<Sessions> {
  const explored = toExploredFlows([{ flow: tool, explored: await explore(tool) }]);
  return new Sessions([tool], { explored, graceMs: 60_000 }); // on a busy machine a step takes longer than the default
}

describe('exploring', () => {
  it('finds what is asked, what always is, and stops at the result of a step', async () => {
    const { questions } = await explore(book);
    expect(questions.map(({ spec, always }) => [spec.key, always])).toEqual([
      ['city', true],
      ['day', true],
      ['travellers', true],
      ['cls', true],
      ['meal', false],
    ]);
    expect(effects).toBe(0);
  });

  it('finds what comes next whatever is answered, where the author lets it be asked ahead', async () => {
    const { next } = await explore(book);
    expect([...next].map(([key, specs]) => [key, specs.map((spec) => spec.key)])).toEqual([
      ['day', ['travellers']],
      ['travellers', ['cls']],
    ]);
  });

  it('takes six questions in four rounds', async () => {
    const sessions = await exploredSessions(book);
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
      last = await settled(
        await sessions.answer({
          ...session,
          answers: last.questions.map(({ promptId, key }) => ({ promptId, value: answers[key] ?? true })),
        }),
      );
      rounds.push(last.questions.map(({ key }) => key));
    }
    expect(rounds).toEqual([['city'], ['day', 'travellers', 'cls'], ['meal'], ['ok'], []]);
  });

  it('takes answers to questions that were put ahead in any order', async () => {
    const sessions = await exploredSessions(book);
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
      for (const key of keys) await ask.choice(key, ['never', 'rarely', 'often', 'always'], { ahead: true });
      return 'thanks';
    });
    const sessions = await exploredSessions(survey);
    let turn = await sessions.start({ principal: 'me', tool: 'survey' });
    let rounds = 0;
    for (; turn.questions.length > 0; rounds++) {
      const answers = turn.questions.map(({ promptId }) => ({ promptId, value: 'often' }));
      turn = await sessions.answer({ principal: 'me', sessionId: turn.header.id, answers });
    }
    expect(turn.result).toBe('thanks');
    expect(rounds).toBe(4);
  });

  it('asks no more ahead than may be asked at all', async () => {
    const forever = flow({ name: 'forever', limits: { prompts: 3 } }, async (ask) => {
      for (;;) await ask.text('more', { ahead: true });
    });
    const sessions = await exploredSessions(forever);
    const { header, questions } = await sessions.start({ principal: 'me', tool: 'forever' });
    expect(questions.map(({ key }) => key)).toEqual(['more', 'more#2', 'more#3']);
    const answers = questions.map(({ promptId }) => ({ promptId, value: 'x' }));
    const turn = await sessions.answer({ principal: 'me', sessionId: header.id, answers });
    expect(turn).toMatchObject({ header: { state: 'error', reason: 'limit' }, questions: [] });
  });

  it('sees a branch that needs two answers at once', async () => {
    const both = flow({ name: 'both' }, async (ask) => {
      const [a, b] = [await ask.choice('a', ['x', 'y']), await ask.choice('b', ['x', 'y'], { ahead: true })];
      if (a === 'x' && b === 'y') await ask.text('why', { ahead: true });
      await ask.text('end', { ahead: true });
    });
    const { questions, next } = await explore(both);
    expect(Object.fromEntries(questions.map(({ spec, always }) => [spec.key, always]))).toEqual({
      a: true,
      b: true,
      end: true,
      why: false,
    });
    expect([...next.keys()]).toEqual(['a', 'why']);
  });

  it('asks one at a time what its author has not allowed', async () => {
    const plain = flow({ name: 'plain' }, async (ask) => {
      if ((await ask.text('a')) === 'stop') return;
      await ask.text('b');
    });
    expect((await explore(plain)).next.size).toBe(0);
  });

  it('keeps alone what wants to be, secrets, and what people must say themselves', async () => {
    const shy = flow({ name: 'shy' }, async (ask) => {
      await ask.text('a');
      await ask.text('b', { alone: true, ahead: true });
      await ask.text('c', { ahead: true });
      await ask.text('s', { secret: true, ahead: true });
      await ask.form('e', { x: f.text(), y: f.number() }, { ahead: true });
      await ask.text('g', { message: msg('hello'), ahead: true });
      await ask.text('h', { by: 'human', ahead: true });
      await ask.text('never');
    });
    const { next, questions } = await explore(shy);
    expect([...next.keys()]).toEqual(['e']);
    expect(questions.at(-1)?.spec.key).toBe('h');
  });

  it.each<[string, (ask: Ask) => Promise<unknown>]>([
    ['a confirmation', (ask) => ask.confirm('stop')],
    ['a form with one', (ask) => ask.form('stop', { ok: f.confirm() })],
    ['whatever a person must say', (ask) => ask.choice('stop', ['yes', 'no'], { by: 'human' })],
    ['a question beside one', (ask) => Promise.all([ask.text('beside'), ask.confirm('stop')])],
  ])('answers no consent, neither yes nor no: %s', async (_, consent) => {
    let passed = 0;
    const wipe = flow({ name: 'wipe' }, async (ask) => {
      await ask.text('dir');
      await consent(ask);
      passed++;
      await ask.text('after');
    });
    const { questions } = await explore(wipe);
    const keys = questions.map(({ spec }) => spec.key);
    expect({ passed, keys }).toMatchObject({ passed: 0, keys: expect.arrayContaining(['dir', 'stop']) });
    expect(keys).not.toContain('after');
  });

  it('puts nothing ahead that depends on the time or on chance', async () => {
    const timely = flow({ name: 'timely' }, async (ask) => {
      await ask.text('a');
      await ask.date('b', { min: ask.today(), ahead: true });
      await ask.text('c', { message: `Ticket ${ask.uuid()}?`, ahead: true });
      await ask.text('d', { ahead: true });
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
