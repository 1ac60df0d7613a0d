import { expect, it } from 'vitest';
import { MemoryState } from './memory-state.ts';
import { keepsTheStateContract } from './state.contract.ts';

function withClock(): { state: MemoryState; pass: (ms: number) => Promise<void> } {
  let now = 1000;
  const state = new MemoryState({ now: () => now, after: () => () => {} });
  return { state, pass: async (ms) => void (now += ms) };
}

keepsTheStateContract('memory', async () => {
  const { state, pass } = withClock();
  return { state, pass, again: async () => state };
});

it('a state in memory that is full refuses new keys until old ones are over', async () => {
  const { state, pass } = withClock();
  await state.take('long', 10_000);
  for (let n = 1; n < 100_000; n++) await state.take(String(n), 1000);
  expect(await state.take('one more', 1000)).toBe(false);
  await pass(1001);
  expect(await state.take('one more', 1000)).toBe(true);
  expect(await state.take('long', 10_000)).toBe(false);
});
