import { expect, it } from 'vitest';
import { cpuMs } from '../base/cpu-time.contract.ts';
import { checkWithJsonSchema } from '../json-schema.ts';
import { checkAsWhole, matchesPattern } from './pattern.ts';
import { validateAnswer } from './validate-answer.ts';

const BAD = '^(a+)+$';
const LONG = `${'a'.repeat(40)}!`;

it('many patterns of one answer that take for ever take the time of one', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`p${n}`, { type: 'string', pattern: `${BAD}|${n}` }]),
  );
  const answer = Object.fromEntries(Object.keys(properties).map((name) => [name, LONG]));
  const spent = cpuMs(() => expect(validateAnswer({ type: 'object', properties }, answer).problems).toHaveLength(40));
  expect(spent).toBeLessThan(2000);
});

it('a pattern that takes for ever costs other answers nothing', () => {
  checkAsWhole(() => expect(matchesPattern(BAD, LONG)).toBe(false));
  expect(matchesPattern(BAD, 'aaa')).toBe(true);
  checkAsWhole(() => expect(matchesPattern(BAD, 'aaa')).toBe(true));
});

it('a schema whose patterns take for ever is checked in time', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`p${n}`, { type: 'string', pattern: BAD }]),
  );
  const check = checkWithJsonSchema({ type: 'object', properties }, 'outputSchema');
  const value = Object.fromEntries(Object.keys(properties).map((key) => [key, LONG]));
  const spent = cpuMs(() => expect(check(value)).toHaveProperty('problems'));
  expect(spent).toBeLessThan(4000);
  expect(check({ p0: 'x' })).toMatchObject({ problems: [{ path: 'p0', error: `Must match pattern "${BAD}"` }] });
});
