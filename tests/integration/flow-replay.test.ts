// 100,000 random programs, each lived through turn by turn with crashes in between, and replayed as a whole: no run may do anything in
// another order than the first. See tests/helpers/flow-replay.ts.
import { expect, it } from 'vitest';
import { replays } from '../helpers/flow-replay.ts';

const PROGRAMS = 100_000;
const AT_ONCE = 100;

it('100,000 random programs replay without divergence', { timeout: 600_000 }, async () => {
  const first = Math.floor(Math.random() * 2 ** 31);
  const wrong: string[] = [];
  for (let at = 0; at < PROGRAMS && wrong.length < 5; at += AT_ONCE) {
    const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => replays(first + at + more)));
    wrong.push(...outcomes.flatMap((outcome) => outcome ?? []));
  }
  expect(wrong, `from seed ${first} on`).toEqual([]);
});
