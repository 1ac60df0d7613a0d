import { expect, it } from 'vitest';
import type { Ask } from '../../../kernel/exchange.ts';
import { FakeClock, settled } from '../../../mcp/eras/fake-context.contract.ts';
import { coalesce } from './coalesce.ts';

it('questions that arrive close together are asked together', async () => {
  const clock = new FakeClock();
  const rounds: Ask[][] = [[]];
  const ask = coalesce(async (question) => {
    rounds.at(-1)!.push(question);
    return { answered: question.key };
  }, clock);
  const first = [ask({ method: 'm', key: 'a' }), ask({ method: 'm', key: 'b' })];
  await settled();
  expect(rounds).toEqual([[]]);
  clock.advance(40);
  expect(await Promise.all(first)).toEqual([{ answered: 'a' }, { answered: 'b' }]);
  rounds.push([]);
  const second = ask({ method: 'm', key: 'c' });
  clock.advance(40);
  await second;
  expect(rounds.map((round) => round.map(({ key }) => key))).toEqual([['a', 'b'], ['c']]);
});
