import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeHeader, encodeHeader, toHeaderText } from './header-value.ts';

it('any text survives its way through a header, and is a legal header value on the way', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const header = encodeHeader(text);
      expect(header).toMatch(/^[\x21-\x7e]?[\x20-\x7e]*$/);
      expect(header.trim()).toBe(header);
      expect(decodeHeader(header)).toBe(text);
    }),
  );
});

it('plain ASCII travels as it is; blanks at the ends, control characters and what looks encoded do not', () => {
  expect(encodeHeader('get weather')).toBe('get weather');
  expect(encodeHeader('')).toBe('');
  for (const text of [' a', 'a ', 'a\tb', 'a\r\nX: y', 'é', '=?base64?aGk=?=']) {
    expect(encodeHeader(text)).toMatch(/^=\?base64\?[A-Za-z0-9+/]+=*\?=$/);
  }
});

it.each([
  '=?base64?a?=',
  '=?base64?a*bc?=',
  '=?base64?YWJj=?=',
  '=?base64?YW Jj?=',
  '=?base64?YWJj\n?=',
  '=?base64?YW-_?=',
])('%j is marked as base64 and is none: refused, not guessed', (header) =>
  expect(decodeHeader(header)).toBeUndefined(),
);

it('markers are exact: anything else is the text itself', () => {
  for (const header of ['=?BASE64?YWJj?=', '=?base64?YWJj', 'x=?base64?YWJj?=', '=?utf-8?YWJj?=']) {
    expect(decodeHeader(header)).toBe(header);
  }
});

it('numbers are decimal, booleans words, and what has no text has none', () => {
  expect([1, -2.5, true, false, 'x'].map(toHeaderText)).toEqual(['1', '-2.5', 'true', 'false', 'x']);
  expect([null, undefined, {}, [], NaN, Infinity].map(toHeaderText)).toEqual(Array(6).fill(undefined));
});
