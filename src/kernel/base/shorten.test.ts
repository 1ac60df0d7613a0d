import { expect, it } from 'vitest';
import { shorten } from './visible.ts';

it('shorten keeps a short text', () => {
  expect(shorten('city', 4)).toBe('city');
});

it('shorten cuts a long text and marks it', () => {
  expect(shorten('cities', 4)).toBe('citi…');
  expect(shorten('k'.repeat(100_000))).toBe(`${'k'.repeat(200)}…`);
});

it('shorten does not split surrogate pairs', () => {
  expect(shorten('abc😀d', 4)).toBe('abc…');
  expect(shorten('ab😀d', 4)).toBe('ab😀…');
});
