import { decode, encode, Token, Type } from 'cborg';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromCbor, toCbor } from './cbor.ts';

const UTF16_TAG = 70_016;
const json = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** Another implementation, set up as the tokens of older versions were made. */
function encodeElsewhere(value: unknown): Uint8Array {
  const asUnits = (text: string): Token[] | null => {
    if ((text as string & { isWellFormed(): boolean }).isWellFormed()) return null;
    return [new Token(Type.tag, UTF16_TAG), new Token(Type.bytes, Uint8Array.from(Buffer.from(text, 'utf16le')))];
  };
  return encode(value, { mapSorter: () => 0, typeEncoders: { string: asUnits } });
}

function decodeElsewhere(bytes: Uint8Array): unknown {
  const fromUnits = (inner: () => unknown) => Buffer.from(inner() as Uint8Array).toString('utf16le');
  return decode(bytes, { tags: { [UTF16_TAG]: fromUnits } });
}

describe('CBOR of tokens', () => {
  it('gives back whatever JSON can say, in the order in which it was said', () => {
    fc.assert(
      fc.property(json, (value) => {
        const back = fromCbor(toCbor(value));
        expect(back).toEqual(value);
        expect(JSON.stringify(back)).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  it('is read by another implementation, and reads what that one writes', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(decodeElsewhere(toCbor(value))).toEqual(value);
        expect(fromCbor(encodeElsewhere(value))).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [[0, 23, 24, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER]],
    [[-1, -24, -25, -256, -257, -65_537, -(2 ** 32), -(2 ** 32) - 1, Number.MIN_SAFE_INTEGER]],
    [[0.5, -1.5, 65_504.5, 1e-7, 1.1, 1e300, 5e-324, 2 ** 60, 0.000_000_059_604_644_775_390_625]],
    [['', 'a', 'é', '€', '𝄞', 'x'.repeat(39), 'x'.repeat(40), 'x'.repeat(41), 'é'.repeat(300), 'x'.repeat(70_000)]],
    [['\uD800', 'a\uDC00b', `${'x'.repeat(50)}\uD800`]],
    [[undefined, null, true, false, [], {}, [undefined, 1], { a: undefined, b: { c: [] } }]],
    [Array.from({ length: 300 }, (_, at) => ({ [`key${at}`]: at }))],
  ])('gives back %#', (value) => {
    expect(fromCbor(toCbor(value))).toEqual(value);
    expect(fromCbor(encodeElsewhere(value))).toEqual(value);
    expect(decodeElsewhere(toCbor(value))).toEqual(value);
  });

  it('writes as few bytes as the other implementation', () => {
    const value = [[Buffer.alloc(6), 1000, -3, 70_000, 'city', 'Zürich', { a: [true, undefined] }, 2 ** 40]];
    expect(Buffer.from(toCbor(value))).toEqual(Buffer.from(encodeElsewhere(value)));
  });

  it('gives back bytes, and a key that is called __proto__ as a plain one', () => {
    const [bytes, object] = fromCbor(toCbor([Buffer.from('bytes'), JSON.parse('{"__proto__":{"a":1},"b":2}')])) as [
      Uint8Array,
      object,
    ];
    expect(Buffer.from(bytes).toString()).toBe('bytes');
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(JSON.stringify(object)).toBe('{"__proto__":{"a":1},"b":2}');
  });

  it.each([
    ['nothing', ''],
    ['a text that is cut', '6461'],
    ['bytes after its end', '0000'],
    ['a length that is not there', '5f'],
    ['a tag that it does not know', 'c100'],
    ['a value that it does not know', 'f8ff'],
    ['a number that is cut', '1b00'],
  ])('does not read %s', (_what, hex) => {
    expect(() => fromCbor(Buffer.from(hex, 'hex'))).toThrow();
  });
});
