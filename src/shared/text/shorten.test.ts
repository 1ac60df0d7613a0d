import { expect, it } from 'vitest';
import { shorten } from './shorten.ts';

it('leaves alone what is short enough', () => {
  expect(shorten('city', 4)).toBe('city');
});

it('cuts what is longer, and says so', () => {
  expect(shorten('cities', 4)).toBe('citi…');
  expect(shorten('k'.repeat(100_000))).toBe(`${'k'.repeat(200)}…`);
});

it('leaves no half of a character', () => {
  expect(shorten('abc😀d', 4)).toBe('abc…');
  expect(shorten('ab😀d', 4)).toBe('ab😀…');
});
