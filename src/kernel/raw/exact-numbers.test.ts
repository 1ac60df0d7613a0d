import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyNumbers, membersOf, parseExactly, writeExactly } from './exact-numbers.ts';
import type { JsonObject } from '../message.ts';

const passed = (text: string) => writeExactly(parseExactly(text));
const read = (text: string) => parseExactly(text) as JsonObject;

test.each([
  ['{"id":12345678901234567890}'],
  ['{"id":9007199254740993,"far":1e400,"further":-1E+999,"small":1e-400}'],
  ['{"one":1.0,"many":[1e3,-0,0.10,{"deep":[[1.0]]}],"in":{"big":-9007199254740993}}'],
  ['{"text":"1.0 and 12345678901234567890 \\\\","n":1.0}'],
  ['{"\\"":1.0,"a\\\\":[1.50]}'],
  ['{"__proto__":{"n":1.0},"constructor":1.0}'],
  ['[1.0,{"n":2.0},"x",null,true,false]'],
  ['{"n":1,"f":0.1,"g":0.30000000000000004}'],
  ['{}'],
])('numbers are written as they were sent: %s', (text) => {
  expect(passed(text)).toBe(text);
  expect(JSON.stringify(read(text))).toBe(JSON.stringify(JSON.parse(text)));
});

test('numbers with space around them are preserved', () => {
  expect(passed('{ "é" : [ 1.0 , 2 ] ,\n"a":\t1e5 }')).toBe('{"é":[1.0,2],"a":1e5}');
});

test('a copy keeps exact numbers, and a changed number is written as changed', () => {
  const sent = read('{"name":"a","arguments":{"id":12345678901234567890,"n":1.0},"top":1e400}');
  expect(writeExactly({ ...sent, name: 'b' })).toBe(
    '{"name":"b","arguments":{"id":12345678901234567890,"n":1.0},"top":1e400}',
  );
  const { top: _, ...rest } = sent;
  expect(writeExactly({ params: { ...rest, more: 1 } })).toBe(
    '{"params":{"name":"a","arguments":{"id":12345678901234567890,"n":1.0},"more":1}}',
  );
  const args = sent.arguments as JsonObject;
  expect(writeExactly({ ...args, n: 2 })).toBe('{"id":12345678901234567890,"n":2}');
  args.id = 5;
  expect(writeExactly(sent)).toBe('{"name":"a","arguments":{"id":5,"n":1.0},"top":1e400}');
  expect(writeExactly(copyNumbers(sent, { top: sent.top }))).toBe('{"top":1e400}');
});

test('exact numbers are invisible to JSON.stringify, Object.keys and for in', () => {
  const sent = read('{"n":1.0}');
  expect(JSON.stringify(sent)).toBe('{"n":1}');
  expect(Object.keys(sent)).toEqual(['n']);
  expect(structuredClone(sent)).toEqual({ n: 1 });
});

test('a duplicate key does not confuse exact numbers', () => {
  expect(JSON.parse(passed('{"a":{"n":1.0},"a":[1,2],"a":5}'))).toEqual({ a: 5 });
  expect(JSON.parse(passed('{"n":2.0,"n":1}'))).toEqual({ n: 1 });
  expect(JSON.parse(passed('{"a":{"n":1.0},"a":{"n":3}}'))).toEqual({ a: { n: 3 } });
});

test('writeExactly respects toJSON and rejects what JSON cannot express', () => {
  const n = read('{"n":1.0}');
  expect(writeExactly([{ toJSON: () => n }, undefined])).toBe('[{"n":1.0},null]');
  expect(writeExactly('x')).toBe('"x"');
  const circle: JsonObject = { n };
  circle.circle = circle;
  expect(() => writeExactly(circle)).toThrow(TypeError);
  expect(() => writeExactly({ n, big: 1n })).toThrow(TypeError);
});

test('parseExactly returns the same value as JSON.parse', () => {
  const encoders = fc.constantFrom(
    (text: string) => text,
    (text: string) => text.replaceAll(/(?<=[:[,])(-?\d+)(?=[,}\]])/g, '$1.0'),
    (text: string) => JSON.stringify(JSON.parse(text), undefined, 1),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), encoders, (one, encode) => {
      const text = encode(JSON.stringify(one));
      expect(JSON.parse(passed(text))).toEqual(JSON.parse(text));
    }),
  );
});

test('any number is written as it was sent', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,25}$/);
  const number = fc.oneof(
    digits,
    fc.tuple(digits, fc.stringMatching(/^\d{1,20}$/)).map(([whole, part]) => `-${whole}.${part}`),
    fc.tuple(digits, fc.integer({ min: -500, max: 500 })).map(([whole, power]) => `${whole}E${power}`),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), number)), (entries) => {
      const all = entries.map(([name, one]) => `{${JSON.stringify(name)}:${one}},${one}`);
      const text = `{"all":[${all.join(',')}]}`;
      expect(passed(text)).toBe(text);
    }),
  );
});

test('membersOf returns the values of an object’s members', () => {
  const args = '{"id":12345678901234567890,"w":"a,}\\":","in":{"a":[1.0,{"b":2}],"c":{}},"no":null,"yes":true}';
  expect(membersOf(args)).toEqual(['12345678901234567890', '"a,}\\":"', '{"a":[1.0,{"b":2}],"c":{}}', 'null', 'true']);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (one) => {
      expect(membersOf(JSON.stringify(one))).toEqual(Object.values(one).map((value) => JSON.stringify(value)));
    }),
  );
});
