import { describe, expect, it } from 'vitest';
import { FairShares } from './fair-shares.ts';

/** Takes places, and notes who has one. */
function places(max: number) {
  const shares = new FairShares(max);
  const holders: string[] = [];
  const take = (owner: string, name = owner): boolean => {
    const end = (): void => {
      holders.splice(holders.indexOf(name), 1);
      free?.();
    };
    const free = shares.take(owner, end);
    if (free) holders.push(name);
    return free !== undefined;
  };
  return { shares, holders, take };
}

describe('fair shares', () => {
  it('let one take all while nobody else wants any', () => {
    const { take, holders } = places(3);
    expect(['a', 'a', 'a', 'a'].map((owner) => take(owner))).toEqual([true, true, true, false]);
    expect(holders).toHaveLength(3);
  });

  it('give the oldest place of the one who has most to others, until all have the same', () => {
    const { take, holders } = places(4);
    for (const name of ['a1', 'a2', 'a3', 'a4']) take('a', name);
    expect([take('b', 'b1'), take('b', 'b2'), take('b', 'b3')]).toEqual([true, true, false]);
    expect(holders).toEqual(['a3', 'a4', 'b1', 'b2']);
    expect([take('c', 'c1'), take('a', 'a5')]).toEqual([true, false]); // nobody has two more than the other
  });

  it('let a newcomer in although hundreds have been before', () => {
    const { take, holders } = places(10);
    for (let n = 0; n < 100; n++) take('flood', `flood ${n}`);
    expect(take('polite')).toBe(true);
    for (let n = 0; n < 100; n++) take('flood', `again ${n}`);
    expect(holders).toContain('polite');
  });

  it('count what is freed once', () => {
    const shares = new FairShares(1);
    const free = shares.take('a', () => {})!;
    free();
    free();
    expect(shares.size).toBe(0);
    expect(shares.take('b', () => {})).toBeDefined();
    expect(shares.take('c', () => {})).toBeUndefined();
  });
});
