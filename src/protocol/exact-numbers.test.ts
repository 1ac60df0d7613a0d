import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactArguments, membersOf, writeExactly } from './exact-numbers.ts';
import type { JsonObject } from './message.ts';

const write = (params: JsonObject, sent: string) => `{${writeExactly(params, sent)}}`;

const of = (args: string, written = JSON.stringify({ name: 'a', arguments: JSON.parse(args) as unknown })) =>
  write(
    JSON.parse(written) as JsonObject,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b","arguments":${args},"x":1}}`,
  );

test.each([
  ['{"id":12345678901234567890}'],
  ['{"one":1.0,"many":[1e3,-0,0.10],"in":{"big":-9007199254740993}}'],
  ['{"text":"1.0 and 12345678901234567890 \\\\","n":1.0}'],
  ['{"n":1}'],
  ['{}'],
])('arrive as they were sent: %s', (args) => {
  expect(of(args)).toBe(`{"name":"a","arguments":${args}}`);
});

test('space and other ways to write a word do no harm', () => {
  expect(of('{ "é" : [ 1.0, 2 ] ,\n"a": "\\u00e9" }')).toBe('{"name":"a","arguments":{"é":[1.0,2],"a":"é"}}');
  expect(of('{"\\u00e9":1.0}')).toBe('{"name":"a","arguments":{"é":1.0}}');
});

test('what is not there is not written', () => {
  expect(write({ _meta: undefined, name: 'a', arguments: {}, task: undefined }, '{}')).toBe(
    '{"name":"a","arguments":{}}',
  );
  expect(write({ name: 'a' }, '{}')).toBe('{"name":"a"}');
  expect(write({ arguments: {}, name: 'a' }, '{}')).toBe('{"arguments":{},"name":"a"}');
});

test('what comes behind the arguments stays', () => {
  const written = '{"arguments":{"n":1},"name":"a","more":{"n":1}}';
  expect(of('{"n":1.0}', written)).toBe('{"arguments":{"n":1.0},"name":"a","more":{"n":1}}');
});

test.each([
  ['a number that was changed', '{"n":1.5}', '{"name":"a","arguments":{"n":2}}'],
  ['a word that was changed', '{"w":"x","n":1.0}', '{"name":"a","arguments":{"w":"y","n":1}}'],
  ['a member that was taken out', '{"n":1.0,"w":"x"}', '{"name":"a","arguments":{"n":1}}'],
  ['one that was put in', '{"n":1.0}', '{"name":"a","arguments":{"n":1,"w":"x"}}'],
  ['a key that stands there twice', '{"n":2,"n":1.0}', '{"name":"a","arguments":{"n":1}}'],
  ['a number that is no number here', '{"n":1e999}', '{"name":"a","arguments":{"n":null}}'],
  ['a word that looks like one', '{"n":"1.0"}', '{"name":"a","arguments":{"n":1}}'],
  ['arguments that are none', '5', '{"name":"a","arguments":"x"}'],
  ['no arguments', '{"n":1.0}', '{"name":"a"}'],
])('stays as it is written: %s', (_, args, written) => {
  expect(of(args, written)).toBe(written);
});

test('where there were none before', () => {
  for (const sent of ['{"id":1}', '{"arguments":{"n":1.', '{"arguments":']) {
    expect(write({ arguments: { n: 1 } }, sent)).toBe('{"arguments":{"n":1}}');
    expect(write({ name: 'a', arguments: { n: 1 } }, sent)).toBe('{"name":"a","arguments":{"n":1}}');
  }
});

test('whatever was sent and whatever is written, it is read as what is written', () => {
  const args = fc.dictionary(fc.string(), fc.jsonValue());
  const spelled = fc.constantFrom(
    (text: string) => text,
    (text: string) => text.replaceAll(/(?<=[:[,])(-?\d+)(?=[,}\]])/g, '$1.0'),
    (text: string) => JSON.stringify(JSON.parse(text), undefined, 1),
  );
  fc.assert(
    fc.property(args, args, fc.boolean(), spelled, (one, other, isChanged, spell) => {
      const written = JSON.stringify({ name: 'a', arguments: isChanged ? other : one });
      expect(JSON.parse(of(spell(JSON.stringify(one)), written))).toEqual(JSON.parse(written));
    }),
  );
});

test('arguments by themselves, and their members', () => {
  const args = '{"id":12345678901234567890,"w":"a,}\\":","in":{"a":[1.0,{"b":2}],"c":{}},"no":null,"yes":true}';
  const exact = exactArguments(JSON.parse(args), `{"params":{"arguments": ${args}}}`);
  expect(exact).toBe(args);
  expect(membersOf(exact)).toEqual([
    ...['12345678901234567890', '"a,}\\":"', '{"a":[1.0,{"b":2}],"c":{}}', 'null', 'true'],
  ]);
  expect(exactArguments([1], '{"arguments":[1.0]}')).toBe('[1.0]');
  expect(exactArguments(undefined, '{"arguments":[1.0]}')).toBe('');
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (one) => {
      expect(membersOf(JSON.stringify(one))).toEqual(Object.values(one).map((value) => JSON.stringify(value)));
    }),
  );
});
