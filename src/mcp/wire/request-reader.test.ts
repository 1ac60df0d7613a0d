import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeExactly } from '../../kernel/raw/exact-numbers.ts';
import { readMessage as readAnywhere } from './json-rpc.ts';
import { RequestReader } from './fast-messages.ts';

const LIMITS = { maxDepth: 20 };
const META = '{"e":{"name":"n"},"v":"2026"}';
const CALL = '{"jsonrpc":"2.0","id":7,"method":"call","params":';
const recurring = { method: 'call', isMeta: (meta: object) => !('token' in meta) };

/** The result of readMessage. */
function expectedOf(text: string): unknown {
  return readAnywhere(text, LIMITS);
}

/** A reader that has seen a client with this `_meta`. */
function toReader(meta = META): RequestReader {
  const reader = new RequestReader(LIMITS, recurring);
  reader.read(`${CALL}{"a":1,"_meta":${meta}}}`);
  return reader;
}

const paramsOf = (incoming: unknown) => (incoming as { message: { params: { _meta?: object } } }).message.params;

test.each([
  ['the id first', `${CALL}{"a":[1],"_meta":${META}}}`],
  ['the id last', `{"method":"call","params":{"a":[1],"_meta":${META}},"jsonrpc":"2.0","id":7}`],
  ['space in between', `${CALL}{ "a" : [ 1 ] ,"_meta":${META}}}`],
])('a recurring _meta is parsed once: %s', (_, text) => {
  const reader = toReader();
  const incoming = reader.read(text);
  expect(incoming).toEqual(expectedOf(text));
  expect(paramsOf(reader.read(text))._meta).toBe(paramsOf(incoming)._meta);
});

test('the numbers of the params are kept as they were sent', () => {
  const reader = toReader();
  const written = (text: string) => writeExactly(paramsOf(reader.read(text)));
  expect(written(`${CALL}{"a":1.0}}`)).toBe('{"a":1.0}');
  expect(written(`${CALL}{"a":1.0,"_meta":${META}}}`)).toBe(`{"a":1.0,"_meta":${META}}`);
  expect(written(`${CALL}{"a":1e400,"_meta":${META}}}`)).toBe(`{"a":1e400,"_meta":${META}}`);
  expect(written('{"jsonrpc":"2.0","id":"7","method":"call","params":{"a":1.0}}')).toBe('{"a":1.0}');
});

test('a _meta that is unlikely to recur is not cached', () => {
  const reader = toReader('{"token":1}');
  const text = `${CALL}{"a":1,"_meta":{"token":1}}}`;
  expect(paramsOf(reader.read(text))._meta).not.toBe(paramsOf(reader.read(text))._meta);
});

test('the shared _meta of requests is frozen', () => {
  const meta = paramsOf(toReader().read(`${CALL}{"a":1,"_meta":${META}}}`))._meta as { e: { name: string } };
  expect(() => (meta.e.name = 'x')).toThrow(TypeError);
});

test.each([
  ['a word that ends like it', `${CALL}{"a":"\\"b\\",\\"_meta\\":${META.replaceAll('"', '\\"')}}}`],
  ['an object within that ends like it', `${CALL}{"a":{"b":1,"_meta":${META}}}}`],
  ['an object within, left open', `${CALL}{"a":{"b":1,"_meta":${META}}}`],
  ['no member before the comma', `${CALL}{,"_meta":${META}}}`],
  ['two of them', `${CALL}{"_meta":{"x":1},"_meta":${META}}}`],
  ['it alone', `${CALL}{"_meta":${META}}}`],
  ['another object behind the params', `${CALL}{"a":1},"5":{"b":1,"_meta":${META}}}`],
  ['params twice', `${CALL}{"a":1},"params":{"b":1,"_meta":${META}}}`],
  ['a second id', `{"method":"call","params":{"a":1,"_meta":${META}},"id":8,"jsonrpc":"2.0","id":7}`],
  ['an array', `${CALL}["a","_meta":${META}]}`],
  ['a bad name before it', `${CALL}{"a","_meta":${META}}}`],
  ['a key that would be a prototype', `${CALL}{"__proto__":{"x":1},"_meta":${META}}}`],
  ['what is too deep', `${CALL}{"a":${'['.repeat(20)}${']'.repeat(20)},"_meta":${META}}}`],
  ['a string for an id', `{"jsonrpc":"2.0","id":"7","method":"call","params":{"a":1,"_meta":${META}}}`],
  ['another method', `{"jsonrpc":"2.0","id":7,"method":"other","params":{"a":1,"_meta":${META}}}`],
  ['a notification', `{"jsonrpc":"2.0","method":"call","params":{"a":1,"_meta":${META}}}`],
  ['something behind it', `${CALL}{"a":1,"_meta":${META}}} x`],
  ['nothing', ''],
])('the request reader agrees with readMessage: %s', (_, text) => {
  expect(toReader().read(text)).toEqual(expectedOf(text));
});

test('any request is read as readMessage reads it, however often it comes', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    ',',
    '"',
    ':',
    '"a"',
    '"a":1',
    '[',
    ']',
    ' ',
    '\\',
    `,"_meta":${META}}`,
    `,"_meta":${META}`,
    '"id":8',
    '"params":{',
    '"__proto__":{}',
    '"_meta":{}',
    '},"5":{"b":1',
  );
  const pieces = fc.array(piece, { maxLength: 8 }).map((all) => all.join(''));
  const text = fc
    .tuple(fc.boolean(), pieces, fc.boolean())
    .map(([first, rest, closed]) =>
      first
        ? `${CALL}{"a":1${rest}${closed ? `,"_meta":${META}}}` : ''}`
        : `{"method":"call","params":{"a":1${rest}${closed ? `,"_meta":${META}}` : ''},"jsonrpc":"2.0","id":7}`,
    );
  const reader = toReader();
  fc.assert(
    fc.property(text, (one) => {
      const expected = expectedOf(one);
      expect(reader.read(one)).toEqual(expected);
      expect(reader.read(one)).toEqual(expected);
    }),
    { numRuns: 3000 },
  );
});
