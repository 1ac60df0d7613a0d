// Test data: JSON that JSON.stringify would not write, with odd spacing, needless escapes, duplicate keys, and numbers
// beyond JavaScript's range.
import * as fc from 'fast-check';

const space = fc.constantFrom('', '', '', ' ', '  ', '\t');

const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '12345678901234567890',
  '1e400',
  '-1.5E-3',
  '0.1e+2',
  '1.10',
  '9007199254740993',
);
const literal = fc.constantFrom('true', 'false', 'null');

/** Any string, each character in one of the ways that JSON allows. */
const stringText: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.nat(2)), { maxLength: 12 })
  .map((units) => `"${units.map(([unit, how]) => encoded(unit, how)).join('')}"`);

const longText = fc
  .tuple(fc.constantFrom('a', 'ä', '€', '😀', '\\n', '\\\\', '\\"', '/', '\\u20ac'), fc.nat(40))
  .map(([unit, count]) => `"${unit.repeat(count)}"`);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(number, literal, stringText, longText),
    fc.array(tie('value'), { maxLength: 4 }).chain((items) => joined('[', items, ']')),
    fc.array(fc.tuple(stringText, tie('value')), { maxLength: 4 }).chain((members) =>
      joined(
        '{',
        members.map(([key, one]) => `${key}:${one}`),
        '}',
      ),
    ),
  ),
}));

export const valueText: fc.Arbitrary<string> = value;

/** Members of an object, each a key as text and a value as text. */
export const membersText: fc.Arbitrary<[string, string][]> = fc.array(fc.tuple(stringText, valueText), {
  maxLength: 6,
});

export function objectText(members: [string, string][]): fc.Arbitrary<string> {
  return fc.array(space, { minLength: 4 * members.length + 4, maxLength: 4 * members.length + 4 }).map((spaces) => {
    const gap = (): string => spaces.pop() ?? '';
    return `{${members.map(([key, one]) => `${gap()}${key}${gap()}:${gap()}${one}${gap()}`).join(',') || gap()}}`;
  });
}

function joined(open: string, items: string[], close: string): fc.Arbitrary<string> {
  return fc.tuple(space, space).map(([one, other]) => `${open}${one}${items.join(`${other},${one}`)}${other}${close}`);
}

function encoded(unit: string, how: number): string {
  if (how === 0) return JSON.stringify(unit).slice(1, -1);
  if (how === 1) return Array.from({ length: unit.length }, (_, at) => escaped(unit.charCodeAt(at))).join('');
  return unit === '/' ? '\\/' : JSON.stringify(unit).slice(1, -1);
}

function escaped(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
