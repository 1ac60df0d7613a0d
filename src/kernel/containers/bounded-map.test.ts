import { expect, test } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

test('a full map drops the entry that was used least recently, and tells its owner', () => {
  const forgotten: number[] = [];
  const map = new BoundedMap<string, number>(2, (value) => forgotten.push(value));
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect(forgotten).toEqual([2]);
  expect(map.entries()).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
});

test('peeking does not count as a use', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.peek('a')).toBe(1);
  map.set('c', 3);
  expect(map.peek('a')).toBeUndefined();
});

test('getOrCreate creates a value once, and counts as a use', () => {
  const map = new BoundedMap<string, number>(2);
  expect(map.getOrCreate('a', () => 1)).toBe(1);
  map.set('b', 2);
  expect(map.getOrCreate('a', () => 5)).toBe(1);
  map.set('c', 3);
  expect(map.entries().map(([key]) => key)).toEqual(['a', 'c']);
});
