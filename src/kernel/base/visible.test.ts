import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableLine } from './visible.ts';

const SEQUENCES = [
  '\x1B[2K\x1B[1G',
  '\x1B]52;c;ZXZpbA==\x07',
  '\x1B]8;;http://evil/\x1B\\',
  '31m',
  '0;t',
  '\r',
  '\r\n',
  '\n',
  '	',
  '\b',
  '\0',
  '',
  '‮',
  '⁦',
  '﻿',
  '\\',
  '"',
  '\\u001b',
  '😀',
  'é',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...SEQUENCES), fc.string({ unit: 'binary' })), { maxLength: 12 })
  .map((parts) => parts.join(''));

/** By code point, independent of the tested rule. */
function isHarmful(character: string): boolean {
  const code = character.codePointAt(0)!;
  if (code === 9 || code === 10) return false;
  return (
    code < 32 || (code >= 127 && code < 160) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
  );
}

describe('a peer’s text', () => {
  it('a peer’s text has no terminal controls left', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(Array.from(printable(text)).filter(isHarmful)).toEqual([]);
        expect(Array.from(printableLine(text)).filter((one) => isHarmful(one) || one === '\n')).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps its value if it is JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, fc.array(hostile)), fc.constantFrom(0, 2), (value, indent) => {
        expect(JSON.parse(printable(JSON.stringify(value, undefined, indent)))).toEqual(value);
      }),
    );
  });

  it('keeps lines, tabs and every script as they are', () => {
    const text = 'Grüße\n\t世界 👩‍👩‍👧 שלום\u200F!\n';
    expect(printable(text)).toBe(text);
    expect(printable('one\r\ntwo\rthree')).toBe('one\ntwo\\u000dthree');
    expect(printableLine('one\ntwo')).toBe('one\\u000atwo');
  });
});
