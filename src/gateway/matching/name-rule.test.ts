import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toMatcher } from './name-rule.ts';
import { cpuMs } from '../../kernel/base/cpu-time.contract.ts';

describe('globs', () => {
  it.each([
    ['read', 'read', true],
    ['read', 'reader', false],
    ['*', '', true],
    ['*delete*', 'undelete_all', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-b-b-c-d', false],
    ['r?ad', 'road', true],
    ['r?ad', 'rad', false],
    ['file:///*', 'file:///a/b/c', true],
    ['a.c', 'abc', false],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(toMatcher([pattern])(text)).toBe(expected);
  });

  it('match nothing when there are none', () => {
    expect(toMatcher([])('a')).toBe(false);
  });

  it('agree with regular expressions', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (pattern, subject) => {
        const source = pattern
          .split('')
          .map((char) => ({ '*': '.*', '?': '.' })[char] ?? char)
          .join('');
        expect(toMatcher([pattern])(subject)).toBe(new RegExp(`^${source}$`, 's').test(subject));
      }),
    );
  });

  it('take a hostile name in a moment', () => {
    const spent = cpuMs(() => expect(toMatcher(['*a*a*a*a*a*a*a*a*b'])('a'.repeat(20_000))).toBe(false));
    expect(spent).toBeLessThan(2000);
  });
});
