// Programs at random; tests/integration/flow-replay.test.ts has many more of them.
import { expect, it } from 'vitest';
import { replays } from '../../../tests/helpers/flow-replay.ts';

it('2000 random programs do the same again in every run', async () => {
  const wrong: string[] = [];
  for (let seed = 0; seed < 2000; seed += 50) {
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, at) => replays(seed + at)));
    wrong.push(...outcomes.flatMap((outcome) => outcome ?? []));
  }
  expect(wrong).toEqual([]);
});
