import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResultMessage } from '../../kernel/message.ts';
import { fieldOf, toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { RawObject } from '../../kernel/raw/raw-object.ts';
import { membersText, objectText } from './json-text.contract.ts';
import { readRaw } from './raw-message.ts';
import { byteLengthOf, toEncodedText, encode } from './json-rpc.ts';

const KEYS = ['"resultType"', '"_meta"', '"ttlMs"', '"content"', '"a\\u0062"', '"é"'];

/** A result as text whose members have different keys. */
const resultText = membersText
  .map((members) => members.map(([, value], at): [string, string] => [KEYS[at]!, value]))
  .chain(objectText);

function raw(text: string): RawObject {
  const message = readRaw(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${text}}`), { maxDepth: 100 });
  if (!message) throw new Error(`not read: ${text}`);
  return message.result as RawObject;
}

const operation = fc.oneof(
  fc.record({
    put: fc.dictionary(fc.constantFrom('resultType', '_meta', 'ab', 'é', 'new', '"', '\n'), fc.jsonValue()),
  }),
  fc.record({ drop: fc.array(fc.constantFrom('resultType', '_meta', 'ab', 'é', 'new', 'none')) }),
);

/** Without the text of its numbers, which a clone does not carry. */
const plain = (value: unknown): unknown => structuredClone(value);

describe('an unparsed object', () => {
  it('encodes the same whether it is changed before or after parsing', () => {
    fc.assert(
      fc.property(resultText, fc.array(operation, { maxLength: 4 }), (text, operations) => {
        let unread = raw(text);
        let read = JSON.parse(text) as Record<string, unknown>;
        for (const one of operations) {
          unread = 'put' in one ? unread.with(one.put) : unread.without(...one.drop);
          if ('put' in one) read = { ...read, ...(JSON.parse(JSON.stringify(one.put)) as object) };
          else for (const key of one.drop) delete read[key];
        }
        const written = encode({ jsonrpc: '2.0', id: 'x"', result: unread });
        expect(JSON.parse(toEncodedText(written))).toEqual({ jsonrpc: '2.0', id: 'x"', result: read });
        expect(byteLengthOf(written)).toBe(Buffer.byteLength(toEncodedText(written)));
        expect(toEncodedText(written)).not.toMatch(/[\r\n]/);
        for (const key of [...Object.keys(read), 'none']) {
          expect(unread.has(key)).toBe(Object.hasOwn(read, key));
          expect(plain(unread.get(key))).toEqual(read[key]);
          expect(unread.typeOf(key)).toBe(typeOf(read[key]));
        }
        expect(plain(unread.parse())).toEqual(read);
        expect(JSON.parse(JSON.stringify([unread]))).toEqual(JSON.parse(JSON.stringify([read])));
      }),
    );
  });

  it('does not change when another one is derived from it', () => {
    const text = '{"a": 1,"b":[2 ]}';
    const unread = raw(text);
    unread.with({ a: 2 });
    unread.without('b');
    expect(Buffer.concat(unread.chunks()).toString()).toBe(text);
    expect(unread.without('c')).toBe(unread);
    expect(unread.byteLength).toBe(text.length);
  });

  it('preserves values in other members that JavaScript cannot represent', () => {
    const unread = raw('{"resultType":"complete","n":12345678901234567890,"e":1e400,"x":{"a":1,"a":2}}');
    const chunks = unread
      .without('resultType')
      .with({ _meta: { a: 1 } })
      .chunks();
    expect(Buffer.concat(chunks).toString()).toBe(
      '{"n":12345678901234567890,"e":1e400,"x":{"a":1,"a":2},"_meta":{"a":1}}',
    );
  });

  it('can lose all of its members', () => {
    expect(Buffer.concat(raw('{"a":1}').without('a').chunks()).toString()).toBe('{}');
    expect(raw('{}').with({ a: 1 }).parse()).toEqual({ a: 1 });
  });

  it('returns members like a parsed one', () => {
    for (const result of [raw('{"isError":true}'), { isError: true }]) {
      expect(fieldOf(result, 'isError')).toBe(true);
      expect(fieldOf(result, 'content')).toBeUndefined();
      expect(toPlainObject(result)).toEqual({ isError: true });
    }
  });

  it('is encoded as text in a batch', () => {
    const answers: ResultMessage[] = [{ jsonrpc: '2.0', id: 1, result: raw('{"a": 1e0}') }];
    expect(encode(answers)).toBe('[{"jsonrpc":"2.0","id":1,"result":{"a":1e0}}]');
  });
});

function typeOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  return typeof value === 'object' && value !== null ? 'object' : 'other';
}
