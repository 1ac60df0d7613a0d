import { describe, expect, it } from 'vitest';
import type { Ask } from '../authoring/ask.ts';
import { toForm } from '../channel/client-form.ts';
import { flow } from '../define.ts';
import { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';

const me = { principal: 'me' };

async function play(body: (ask: Ask) => Promise<unknown>, warm = 0) {
  const sessions = new Sessions([flow({ name: 'x' }, body)], { warm });
  let turn = await settled(await sessions.start({ ...me, tool: 'x', args: { known: 'here' } }));
  const { id: sessionId } = turn.header;
  const answer = async (...values: unknown[]): Promise<Turn> => {
    const answers = turn.questions.map(({ promptId }, at) => ({ promptId, value: values[at] }));
    return (turn = await settled(await sessions.answer({ ...me, sessionId, answers })));
  };
  return { first: turn, answer };
}

describe('a note', () => {
  it.each([0, 10])('is shown with the next question alone, with %d bodies in memory', async (warm) => {
    const { first, answer } = await play(async (ask) => {
      ask.note('Welcome.');
      await ask.text('known');
      await ask.step('read', () => 1);
      await ask.text('a', { min: 2 });
      await ask.text('b');
      ask.note('Nearly there.');
      await ask.text('c');
    }, warm);
    expect(first.questions).toMatchObject([{ key: 'a', notes: ['Welcome.'] }]);
    expect((await answer('x')).questions).toMatchObject([{ key: 'a', notes: ['Welcome.'], attempt: 2 }]);
    const { questions } = await answer('xx');
    expect(questions.map(({ key, notes }) => [key, notes])).toEqual([['b', undefined]]);
    expect((await answer('x')).questions).toMatchObject([{ key: 'c', notes: ['Nearly there.'] }]);
  });

  it('is shown once above questions that are asked together', async () => {
    const { first } = await play(async (ask) => {
      ask.note('Two things.');
      await Promise.all([ask.text('a'), ask.text('b')]);
    });
    expect(JSON.stringify(toForm(first.questions)).match(/Two things\./g)).toHaveLength(1);
  });
});
