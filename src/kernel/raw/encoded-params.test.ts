import { expect, test } from 'vitest';
import { parseExactly, writeExactly } from './exact-numbers.ts';
import type { JsonObject, Message } from '../message.ts';
import { EncodedParams, toPlainMessage } from './encoded-params.ts';

test('encoded params are written with their `_meta` and read like any others', () => {
  const params = new EncodedParams({ name: 'a', _meta: undefined }, '{"m":1}');
  expect(params.text).toBe('{"name":"a","_meta":{"m":1}}');
  expect(JSON.stringify({ params })).toBe('{"params":{"name":"a","_meta":{"m":1}}}');
  expect(new EncodedParams(undefined, '{}').text).toBe('{"_meta":{}}');
  expect(new EncodedParams({}, '{}').text).toBe('{"_meta":{}}');
});

test('a key called __proto__ stays an ordinary key in encoded params', () => {
  const own = JSON.parse('{"__proto__":{"name":"admin"},"a":1}') as JsonObject;
  const params = new EncodedParams(own, '{"m":1}');
  expect(params.text).toBe('{"__proto__":{"name":"admin"},"a":1,"_meta":{"m":1}}');
  expect(params.toJSON().name).toBeUndefined();
});

test('encoded params keep numbers as they were sent', () => {
  const sent = parseExactly('{"name":"b","arguments":{"n":1.0}}') as JsonObject;
  const params = new EncodedParams({ ...sent, name: 'a' }, '{"m":1e400}');
  expect(params.text).toBe('{"name":"a","arguments":{"n":1.0},"_meta":{"m":1e400}}');
  expect(writeExactly(params.toJSON())).toBe(params.text);
});

test('toPlainMessage turns encoded params into an object', () => {
  const params = new EncodedParams({ a: 1 }, '{"m":1}') as unknown as JsonObject;
  const message: Message = { jsonrpc: '2.0', id: 1, method: 'm', params };
  expect(toPlainMessage(message)).toEqual({ jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1, _meta: { m: 1 } } });
  const plain: Message = { jsonrpc: '2.0', id: 1, result: {} };
  expect(toPlainMessage(plain)).toBe(plain);
});
