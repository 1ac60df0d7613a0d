import { expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import { FakeClock } from '../../../mcp/eras/fake-context.contract.ts';
import { StateLosses } from './state-losses.ts';

function world() {
  const clock = new FakeClock();
  const state = new MemoryState(clock, { isShared: true });
  const said: string[] = [];
  const log = createLog({ level: 'warn', write: (line) => void said.push(line) });
  const empty = async (): Promise<void> => {
    await state.remove('cluster', 'store');
  };
  return { clock, said, empty, node: () => new StateLosses({ state, clock, log }) };
}

it('a state that was emptied is noticed and said once by each node, and settles after some seconds', async () => {
  const { clock, said, empty, node } = world();
  const [a, b] = [node(), node()];
  expect([await a.look(), await b.look()]).toEqual([false, false]);
  clock.advance(10_000);
  expect(b.isSettled).toBe(true);
  await empty();
  expect([await a.look(), await b.look(), await b.look()]).toEqual([true, true, false]);
  expect([a.isSettled, b.isSettled]).toEqual([false, false]);
  expect(said.filter((line) => line.includes('store.emptied'))).toHaveLength(2);
  clock.advance(10_000);
  expect([a.isSettled, b.isSettled]).toEqual([true, true]);
});

it('two looks at once at a state that was emptied are one', async () => {
  const { said, empty, node } = world();
  const a = node();
  await a.look();
  await empty();
  expect(await Promise.all([a.look(), a.look()])).toEqual([true, true]);
  expect(said).toHaveLength(1);
});

it('a node that finds a state without anything does not say that it was emptied', async () => {
  const { said, node } = world();
  expect(await node().look()).toBe(false);
  expect(said).toEqual([]);
});

it('a state that has gone back to an earlier time is said to be behind, and not to be empty', async () => {
  const { clock, said, node } = world();
  const a = node();
  await a.look();
  clock.advance(10_000);
  expect(await a.look(true)).toBe(true);
  expect(a.isSettled).toBe(false);
  expect(said.join()).toMatch(/store\.behind/);
  expect(said.join()).not.toMatch(/store\.emptied/);
});
