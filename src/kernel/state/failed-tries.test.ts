import { expect, it } from 'vitest';
import { until } from '../../../tests/helpers/until.ts';
import { FailedTries } from './failed-tries.ts';
import { MemoryState } from './memory-state.ts';

const RATE = { count: 3, perMs: 60_000 };

function gateways(isShared: boolean) {
  let now = 1000;
  const clock = { now: () => now, after: () => () => {} };
  const state = new MemoryState(clock, { isShared });
  const tries = [1, 2, 3].map(() => new FailedTries({ rate: RATE, name: 'tried', clock, state }));
  return { tries, state, pass: (ms: number) => void (now += ms) };
}

it('failures at one gateway are counted at all that share its state, and their key waits after the next one', async () => {
  const { tries, pass } = gateways(true);
  const [one, two, three] = tries as [FailedTries, FailedTries, FailedTries];
  one.count('a');
  two.count('a');
  three.count('a');
  expect([one.waitMs('a'), two.waitMs('a')]).toEqual([0, 0]);
  one.count('a');
  await until('the answer of the state', () => one.waitMs('a') > 0);
  expect(one.waitMs('b')).toBe(0);
  pass(RATE.perMs);
  expect(one.waitMs('a')).toBe(0);
});

it('gateways that share nothing count for themselves', () => {
  const { tries } = gateways(false);
  for (let n = 0; n < 3; n++) tries[0]!.count('a');
  expect(tries[0]!.waitMs('a')).toBeGreaterThan(0);
  expect(tries[1]!.waitMs('a')).toBe(0);
});

it('while the state does not answer, a gateway counts for itself', async () => {
  const { tries, state } = gateways(true);
  Object.assign(state, { draw: () => Promise.reject(new Error('it does not answer')) });
  for (let n = 0; n < 3; n++) tries[0]!.count('a');
  expect(tries[0]!.waitMs('a')).toBeGreaterThan(0);
});
