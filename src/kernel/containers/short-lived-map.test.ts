import { describe, expect, it } from 'vitest';
import { ShortLivedMap } from './short-lived-map.ts';

describe('a short-lived map', () => {
  it('keeps its values in insertion order', () => {
    const map = new ShortLivedMap<number | string, { name: string }>();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name })) as [
      { name: string },
      { name: string },
      { name: string },
    ];
    map.set(1, a);
    map.set('1', b);
    map.set(2, c);
    map.set(1, c);
    expect([map.get(1), map.get('1'), map.size, map.has(2), map.has(3)]).toEqual([c, b, 3, true, false]);
    expect([map.keys(), map.values()]).toEqual([
      [1, '1', 2],
      [c, b, c],
    ]);
  });

  it('returns a deleted value once', () => {
    const map = new ShortLivedMap<number, object>();
    const one = {};
    map.set(1, one);
    expect([map.delete(1), map.delete(1), map.get(1), map.size]).toEqual([one, undefined, undefined, 0]);
  });

  it('a short-lived map can be changed while its values are iterated', () => {
    const map = new ShortLivedMap<number, { id: number }>();
    for (const id of [1, 2, 3]) map.set(id, { id });
    for (const { id } of map.values()) map.delete(id + 1);
    expect(map.keys()).toEqual([1]);
    map.set(4, { id: 4 });
    map.clear();
    expect([map.size, map.values()]).toEqual([0, []]);
  });
});
