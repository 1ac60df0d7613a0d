import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../message.ts';
import { writeExactly } from './exact-numbers.ts';
import { RawText } from './raw-object.ts';

const of = (text: string) => new RawText(JSON.parse(text) as JsonObject, text);

test('a raw text is written as it came', () => {
  const text = '{"n":12345678901234567890,"x":1.0,"a":{"b":1,"b":2}}';
  expect(of(text).text).toBe(text);
  expect(Buffer.concat(of(text).chunks()).toString()).toBe(text);
  expect(of('{"ü":1}').byteLength).toBe(8);
});

test('members of a raw text can be removed and added', () => {
  const big = '"n":12345678901234567890';
  expect(of(`{"a":1,"r":"c",${big}}`).without('r').text).toBe(`{"a":1,${big}}`);
  expect(of('{"r":"c"}').without('r').text).toBe('{}');
  expect(of(`{"r":"c",${big}}`).without('r').text).toBe(`{${big}}`);
  expect(of(`{${big},"r":"c"}`).without('r', 'absent').text).toBe(`{${big}}`);
  expect(of(`{${big}}`).plus({ values: { r: 1 }, text: ',"r":1' }).text).toBe(`{${big},"r":1}`);
  expect(of('{}').plus({ values: { r: 1 }, text: ',"r":1' }).text).toBe('{"r":1}');
});

test('removing a duplicate member removes both', () => {
  for (const text of ['{"r":"a","x":1,"r":"b"}', '{"r":"b","x":1,"r":"b"}']) {
    expect(of(text).without('r').text).toBe('{"x":1}');
  }
});

test('an ambiguous member makes the text be encoded again, with exact numbers', () => {
  expect(of('{"x":{"r":"c","y":1.0},"r":"c"}').without('r').text).toBe('{"x":{"r":"c","y":1.0}}');
  expect(of('{"r":1.0,"y":1.0}').without('r').text).toBe('{"y":1.0}');
  expect(of('{"r" :"c","y":1.0}').without('r').text).toBe('{"y":1.0}');
  expect(of('{"y":1.0, "r":"c"}').without('r').text).toBe('{"y":1.0}');
  expect(of('{"r":"c" ,"y":1.0}').without('r').text).toBe('{"y":1.0}');
});

test('a nested member of the same name is not removed', () => {
  expect(of('{"x":{"r":"c"},"\\u0072":"c"}').without('r').text).toBe('{"x":{"r":"c"}}');
  expect(of('{"_\\u006Deta":1.0,"_meta":1}').without('_meta').text).toBe('{}');
  expect(of('{"x":"\\u00e9\\u003c\\u2028","y":1.0,"r":"c"}').without('r').text).toContain('1.0');
  expect(of('{"x":{"r":"c"},"r" :"c"}').without('r').text).toBe('{"x":{"r":"c"}}');
});

test('adding a removed member restores the original text, unless it was a duplicate', () => {
  const one = of('{"a":1.0,"r":"c"}');
  expect(one.without('r').before('r', 'c')).toBe(one);
  expect(one.without('r').before('r', 'd')).toBeUndefined();
  expect(one.without('r', 'a').before('r', 'c')).toBeUndefined();
  for (const key of ['"r"', '"r" ', '"\\u0072"']) {
    expect(of(`{${key}:"q","a":1,"r":"c"}`).without('r').before('r', 'c')).toBeUndefined();
  }
});

test('a raw text has no inherited members', () => {
  const one = of('{"a":null,"__proto__":{"x":1},"s":"","l":[],"o":{}}');
  expect(['a', 's', 'l', 'o', 'toString'].map((key) => one.typeOf(key))).toEqual([
    'other',
    'string',
    'array',
    'object',
    undefined,
  ]);
  expect(one.has('toString')).toBe(false);
  expect(one.has('a')).toBe(true);
  expect(one.without('a').has('a')).toBe(false);
  expect(Object.keys(one.without('a').parse())).toContain('__proto__');
  expect((one.without('a').parse() as { x?: unknown }).x).toBeUndefined();
});

test('the text and the value of a raw text always agree', () => {
  const key = fc.constantFrom('a', 'b', 'resultType', '_meta');
  const object = fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true });
  const doing = fc.oneof(
    fc.record({ without: fc.array(key, { minLength: 1, maxLength: 2 }) }),
    fc.record({ with: object }),
    fc.record({ plus: object }),
  );
  fc.assert(
    fc.property(object, fc.array(doing, { maxLength: 4 }), (given, doings) => {
      let raw = of(JSON.stringify(given));
      const plain = new Map(Object.entries(given));
      for (const one of doings) {
        if ('without' in one) {
          raw = raw.without(...one.without);
          one.without.forEach((gone) => plain.delete(gone));
        } else {
          const isNew = 'plus' in one && !Object.keys(one.plus).some((known) => plain.has(known));
          const values = 'plus' in one ? one.plus : one.with;
          const text = JSON.stringify(values).slice(1, -1);
          raw = isNew && text !== '' ? raw.plus({ values, text: `,${text}` }) : raw.with(values);
          for (const [name, value] of Object.entries(values)) plain.set(name, value);
        }
      }
      const expected = JSON.parse(JSON.stringify(Object.fromEntries(plain))) as unknown;
      expect(JSON.parse(raw.text)).toEqual(expected);
      expect(JSON.parse(JSON.stringify(raw.parse()))).toEqual(expected);
      for (const name of ['a', 'b', 'resultType', '_meta']) expect(raw.has(name)).toBe(plain.has(name));
    }),
  );
});

test('a member keeps its numbers after another one was removed', () => {
  const sent = '{"gone":1,"kept":{"n":1.0}}';
  const left = new RawText(JSON.parse(sent) as JsonObject, sent).without('gone');
  expect(writeExactly(left.get('kept'))).toBe('{"n":1.0}');
});
