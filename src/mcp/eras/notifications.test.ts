import { expect, it } from 'vitest';
import { isWithin } from './notifications.ts';

it.each([
  ['a://x', 'a://x', true],
  ['a://x/y', 'a://x', true],
  ['a://x#part', 'a://x', true],
  ['a://x?q=1', 'a://x', true],
  ['a://x/y', 'a://x/', true],
  ['a://xy', 'a://x', false],
  ['a://x', 'a://x/y', false],
])('%s within %s: %s', (uri, whole, expected) => {
  expect(isWithin(uri, whole)).toBe(expected);
});
