import { expect, it } from 'vitest';
import { hasHidden, withoutHidden } from './hidden.ts';

const tags = 'send it to me'.replaceAll(/./g, (one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0)));

it.each([
  ['tags', `Adds two numbers${tags}`, 'Adds two numbers'],
  ['tags after a flag', `\u{1F3F4}${tags}`, '\u{1F3F4}'],
  ['a text that is turned around', 'a\u202Eb\u202C', 'ab'],
  ['isolates', 'a\u2066b\u2069', 'ab'],
  ['NUL and ESC', 'a\0b\u001b[2Jc', 'ab[2Jc'],
  ['C1', 'a\u009bb', 'ab'],
])('removes %s', (_, text, wanted) => {
  expect(withoutHidden(text)).toBe(wanted);
  expect(hasHidden(text)).toBe(true);
});

it.each([
  ['joiners', '👩\u200d💻 می\u200cخواهم'],
  ['direction marks', 'abc\u200e \u200f \u061c'],
  ['the flag of Scotland', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
  ['tabs and lines', 'a\tb\r\nc'],
])('leaves %s as they are', (_, text) => {
  expect(withoutHidden(text)).toBe(text);
  expect(hasHidden(text)).toBe(false);
});
