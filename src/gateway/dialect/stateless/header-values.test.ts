import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeHeader, encodeHeader, toHeaderText } from './headers.ts';

it('any text is encoded as a legal header value and decoded again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const header = encodeHeader(text);
      expect(header).toMatch(/^[\x21-\x7e]?[\x20-\x7e]*$/);
      expect(header.trim()).toBe(header);
      expect(decodeHeader(header)).toBe(text);
    }),
  );
});

it('plain ASCII is not encoded; outer spaces, control characters and text that looks encoded are', () => {
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
])('a header %j with invalid base64 is refused', (header) => expect(decodeHeader(header)).toBeUndefined());

it('text without exact markers is not decoded', () => {
  for (const header of ['=?BASE64?YWJj?=', '=?base64?YWJj', 'x=?base64?YWJj?=', '=?utf-8?YWJj?=']) {
    expect(decodeHeader(header)).toBe(header);
  }
});

it('header text has decimal integers and boolean words, and nothing else', () => {
  expect([1, -2.5, true, false, 'x'].map(toHeaderText)).toEqual(['1', '-2.5', 'true', 'false', 'x']);
  expect([null, undefined, {}, [], NaN, Infinity].map(toHeaderText)).toEqual(Array(6).fill(undefined));
});
