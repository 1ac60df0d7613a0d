import { expect, it } from 'vitest';
import { cpuMs } from '../../shared/cpu-time.contract.ts';
import { checkWithJsonSchema } from '../schema/json-schema.ts';
import { matchesPattern } from './pattern.ts';

const BAD = '^(a+)+$';
const LONG = `${'a'.repeat(40)}!`;

it('many patterns that take for ever take the time of one', () => {
  const spent = cpuMs(() => {
    for (let n = 0; n < 40; n++) expect(matchesPattern(`${BAD}|${n}`, LONG)).toBe(false);
  });
  expect(spent).toBeLessThan(2000);
});

it('the time is counted again in the next turn', async () => {
  expect(matchesPattern(BAD, LONG)).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(matchesPattern(BAD, 'aaa')).toBe(true);
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
