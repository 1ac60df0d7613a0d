import { expect, test } from 'vitest';
import { SmallMemo } from './memo.ts';

test('a small memo finds values by the identity of their keys', () => {
  const [one, other] = [{}, {}];
  const recent = new SmallMemo<string>();
  expect(recent.get(one)).toBeUndefined();
  expect(recent.keep('a', one, 1)).toBe('a');
  recent.keep('b', other, 1);
  expect([recent.get(one, 1), recent.get(other, 1), recent.get(one), recent.get(one, 1, 2)]).toEqual([
    'a',
    'b',
    undefined,
    undefined,
  ]);
});

test('a small memo keeps a few values and drops the oldest first', () => {
  const recent = new SmallMemo<number>();
  for (let n = 0; n < 1000; n++) recent.keep(n, n);
  expect(recent.get(999)).toBe(999);
  expect(recent.get(0)).toBeUndefined();
  const kept = Array.from({ length: 1000 }, (_, n) => recent.get(n)).filter((n) => n !== undefined);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => 1000 - kept.length + n));
});

test.each([
  ['a long word', { a: 'x'.repeat(5000) }],
  ['many members', Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`${n}`, 1]))],
  ['a long list', { a: Array.from({ length: 5000 }, () => []) }],
  ['a deep one', JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as object],
])('a small memo keeps nothing large: %s', (_, large) => {
  const recent = new SmallMemo<string>();
  expect(recent.keep('value', 'small', large)).toBe('value');
  expect(recent.get('small', large)).toBeUndefined();
});
