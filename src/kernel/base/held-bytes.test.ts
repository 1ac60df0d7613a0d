import { describe, expect, it } from 'vitest';
import { HeldShare, UNCOUNTED_BYTES, heldBytes } from './held-bytes.ts';

const MB = 1_000_000;

function holdings(maxBytes: number) {
  const before = heldBytes();
  const cut: string[] = [];
  const hold = (owner: string, name: string) =>
    new HeldShare({ owner, maxBytes: before + maxBytes, cut: () => cut.push(name) });
  return { hold, cut, held: () => heldBytes() - before };
}

describe('the byte budget', () => {
  it('cuts the largest holding of the owner who holds most, and leaves others alone', () => {
    const { hold, cut, held } = holdings(10 * MB);
    const [a1, a2, a3, b] = [hold('a', 'a1'), hold('a', 'a2'), hold('a', 'a3'), hold('b', 'b')];
    for (const [holding, bytes] of [
      [a1, 2 * MB],
      [a2, 3 * MB],
      [a3, MB],
      [b, 4 * MB],
    ] as const)
      expect(holding.set(bytes)).toBe(true);
    expect(b.set(4.5 * MB)).toBe(true);
    expect(cut).toEqual(['a2']);
    expect(a2.set(5 * MB)).toBe(false);
    expect(held()).toBe(7.5 * MB);
    for (const one of [a1, a2, a3, b]) one.release();
    expect(held()).toBe(0);
  });

  it('cuts the one who asks, if it holds most or nothing else can be cut', () => {
    const { hold, cut, held } = holdings(10 * MB);
    const [a, b] = [hold('a', 'a'), hold('b', 'b')];
    a.set(4 * MB);
    expect(b.set(7 * MB)).toBe(false);
    a.keep();
    const c = hold('c', 'c');
    expect(c.set(7 * MB)).toBe(false);
    expect(cut).toEqual(['b', 'c']);
    a.release();
    expect(held()).toBe(0);
  });

  it('the byte budget does not count what is small', () => {
    const { hold, held } = holdings(1);
    expect(hold('a', 'a').set(UNCOUNTED_BYTES)).toBe(true);
    expect(held()).toBe(0);
  });
});
