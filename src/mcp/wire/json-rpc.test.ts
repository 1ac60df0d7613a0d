import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, RequestId } from '../../kernel/message.ts';
import { ERRORS } from '../../kernel/base/error-table.ts';
import type { ErrorCode } from '../../kernel/base/error-table.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { MAX_BATCH_ITEMS, readMessage, toParsedInput, writeMessage } from './json-rpc.ts';
import type { ParsedInput } from './json-rpc.ts';

const limits = { maxDepth: 512 };
const read = (text: string): ParsedInput => readMessage(text, limits);

function readOne(text: string): Message {
  const incoming = read(text);
  if (incoming.kind !== 'message') throw new Error(`${incoming.kind}: ${text}`);
  return incoming.message;
}

function expectRefused(incoming: ParsedInput | undefined, code: ErrorCode, id: RequestId | null): GatewayError {
  if (incoming?.kind !== 'refused') throw new Error(`expected a refusal, got ${incoming?.kind}`);
  expect({ code: incoming.error.code, id: incoming.id }).toStrictEqual({ code, id });
  return incoming.error;
}

describe('readMessage', () => {
  it('takes requests, notifications, results and errors as they are, unknown keys included', () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"},"extra":[1]}',
      '{"jsonrpc":"2.0","id":0,"method":""}',
      '{"jsonrpc":"2.0","id":-1.5,"method":"ping"}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":"","result":null}',
      '{"jsonrpc":"2.0","id":3,"result":[1,2]}',
      '{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no","data":{"a":1}}}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    ]) {
      expect(writeMessage(readOne(text))).toBe(text);
    }
  });

  it('keeps the ids 1 and "1" different', () => {
    expect(readOne('{"jsonrpc":"2.0","id":1,"method":"ping"}')).toHaveProperty('id', 1);
    expect(readOne('{"jsonrpc":"2.0","id":"1","method":"ping"}')).toHaveProperty('id', '1');
    expectRefused(read('{"id":1,"method":"ping"}'), 'INVALID_REQUEST', 1);
    expectRefused(read('{"id":"1","method":"ping"}'), 'INVALID_REQUEST', '1');
  });

  it('tolerates a byte order mark at the start', () => {
    expect(readOne('\uFEFF{"jsonrpc":"2.0","method":"x"}')).toStrictEqual({ jsonrpc: '2.0', method: 'x' });
  });

  it('reads a key called __proto__ as a key and not as a prototype', () => {
    const text = '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"ping"}}';
    expectRefused(read(text), 'INVALID_REQUEST', 1);
  });

  it('reads an error without an id as one with the id null', () => {
    const error = { code: -32000, message: 'no' };
    expect(readOne('{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"extra":1}')).toStrictEqual({
      jsonrpc: '2.0',
      id: null,
      error,
      extra: 1,
    });
  });

  it('answers malformed JSON with a parse error that keeps its cause', () => {
    for (const text of ['', ' ', '{', '{"jsonrpc":"2.0",}', "{'a':1}", 'undefined', 'NaN', '{} {}', '\uFEFF\uFEFF{}']) {
      expect(expectRefused(read(text), 'PARSE_ERROR', null).cause).toBeInstanceOf(SyntaxError);
    }
  });

  it.each<[string, RequestId | null]>([
    ['null', null],
    ['1', null],
    ['"x"', null],
    ['{}', null],
    ['{"id":1}', 1],
    ['{"jsonrpc":"1.0","id":"a","method":"x"}', 'a'],
    ['{"jsonrpc":2.0,"id":1,"method":"x"}', 1],
    ['{"jsonrpc":"2.0","id":1}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":null,"result":{}}', 1],
    ['{"jsonrpc":"2.0","id":null,"method":"x"}', null],
    ['{"jsonrpc":"2.0","id":true,"method":"x"}', null],
    ['{"jsonrpc":"2.0","id":{},"method":"x"}', null],
    ['{"jsonrpc":"2.0","id":[1],"method":"x"}', null],
    ['{"jsonrpc":"2.0","id":1e999,"method":"x"}', null],
    ['{"jsonrpc":"2.0","id":1,"method":"x","result":{}}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":"x","error":{"code":1,"message":""}}', 1],
    ['{"jsonrpc":"2.0","method":"x","result":{}}', null],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":null}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":"no"}', 1],
    ['{"jsonrpc":"2.0","result":{}}', null],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', null],
    ['{"jsonrpc":"2.0","id":false,"error":{"code":1,"message":""}}', null],
    ['[]', null],
  ])('refuses %s as an invalid request and says why', (text, id) => {
    expect(expectRefused(read(text), 'INVALID_REQUEST', id).details).toStrictEqual({ data: expect.any(String) });
  });

  it.each(['[]', '[1]', '"x"', '1', 'false', 'null'])(
    'refuses %s as params, with the id of a request only',
    (params) => {
      const error = expectRefused(
        read(`{"jsonrpc":"2.0","id":4,"method":"x","params":${params}}`),
        'INVALID_PARAMS',
        4,
      );
      expect(error.details).toStrictEqual({ data: expect.any(String) });
      expectRefused(read(`{"jsonrpc":"2.0","method":"x","params":${params}}`), 'INVALID_PARAMS', null);
    },
  );

  it('never throws and returns one of three kinds for any input', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '"id"',
      '"jsonrpc":"2.0"',
      '"method":"x"',
      '1',
      'null',
    );
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.array(pieces).map((parts) => parts.join('')),
    );
    fc.assert(fc.property(junk, (text) => ['message', 'batch', 'refused'].includes(read(text).kind)));
  });

  it('uses a parsed value as the message itself or refuses it', () => {
    const any = fc.oneof(fc.jsonValue(), fc.constantFrom('2.0', 'x', 1, null, undefined, Number.NaN));
    const value = fc.record(
      { jsonrpc: fc.constantFrom('2.0', 2), id: any, method: any, params: any, result: any, error: any },
      { requiredKeys: ['jsonrpc'] },
    );
    fc.assert(
      fc.property(value, (value) => {
        const incoming = toParsedInput(value, limits);
        if (incoming.kind !== 'message') return incoming.kind === 'refused';
        return incoming.message === value || ('error' in value && !('id' in value));
      }),
    );
  });
});

describe('a batch', () => {
  it('is checked item by item', () => {
    const incoming = read('[{"jsonrpc":"2.0","id":1,"method":"ping"},1,[],{"id":2}]');
    if (incoming.kind !== 'batch') throw new Error(incoming.kind);
    expect(incoming.items).toHaveLength(4);
    expect(incoming.items[0]).toStrictEqual({ kind: 'message', message: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expectRefused(incoming.items[1], 'INVALID_REQUEST', null);
    expectRefused(incoming.items[2], 'INVALID_REQUEST', null);
    expectRefused(incoming.items[3], 'INVALID_REQUEST', 2);
  });

  it('loses only the item that is too deep', () => {
    const deep = `{"jsonrpc":"2.0","id":2,"method":"x","params":{"a":${'['.repeat(600)}${']'.repeat(600)}}}`;
    const incoming = read(`[{"jsonrpc":"2.0","id":1,"method":"ping"},${deep}]`);
    if (incoming.kind !== 'batch') throw new Error(incoming.kind);
    expect(incoming.items[0]?.kind).toBe('message');
    expectRefused(incoming.items[1], 'NESTED_TOO_DEEP', 2);
  });

  it('is refused as a whole when it holds too many items', () => {
    const batch = (length: number): unknown[] => Array.from({ length }, () => ({ jsonrpc: '2.0', method: 'x' }));
    expect(toParsedInput(batch(MAX_BATCH_ITEMS), limits).kind).toBe('batch');
    expectRefused(toParsedInput(batch(MAX_BATCH_ITEMS + 1), limits), 'INVALID_REQUEST', null);
  });
});

describe('nesting', () => {
  const nested = (levels: number): string =>
    `{"jsonrpc":"2.0","id":9,"method":"x","params":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}}`;

  it('is allowed up to the limit, and refused one level above it with the id and the limit', () => {
    for (const maxDepth of [3, 20, 512]) {
      expect(readMessage(nested(maxDepth), { maxDepth }).kind).toBe('message');
      expect(toParsedInput(JSON.parse(nested(maxDepth)), { maxDepth }).kind).toBe('message');
      const error = expectRefused(readMessage(nested(maxDepth + 1), { maxDepth }), 'NESTED_TOO_DEEP', 9);
      expect(error.details).toStrictEqual({ limit: maxDepth });
      expectRefused(toParsedInput(JSON.parse(nested(maxDepth + 1)), { maxDepth }), 'NESTED_TOO_DEEP', 9);
    }
  });

  it('of 100,000 levels is refused without overflowing the stack', () => {
    expectRefused(read(nested(100_000)), 'NESTED_TOO_DEEP', 9);
    const arrays = read('['.repeat(100_000) + ']'.repeat(100_000));
    if (arrays.kind !== 'batch') throw new Error(arrays.kind);
    expectRefused(arrays.items[0], 'NESTED_TOO_DEEP', null);
    expectRefused(read('['.repeat(100_000)), 'PARSE_ERROR', null);
  });
});

describe('writeMessage', () => {
  const id = fc.oneof(fc.string(), fc.integer());
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
  const jsonrpc = fc.constant('2.0' as const);
  const error = fc.record(
    { code: fc.integer(), message: fc.string(), data: fc.jsonValue() },
    { requiredKeys: ['code', 'message'] },
  );
  const message: fc.Arbitrary<unknown> = fc.oneof(
    fc.record({ jsonrpc, id, method: fc.string(), params: object }, { requiredKeys: ['jsonrpc', 'id', 'method'] }),
    fc.record({ jsonrpc, method: fc.string(), params: object }, { requiredKeys: ['jsonrpc', 'method'] }),
    fc.record({ jsonrpc, id, result: fc.jsonValue() }),
    fc.record({ jsonrpc, id: fc.option(id), error }),
  );
  // What JSON itself cannot tell apart (-0 and 0, a null prototype) is not a matter of the codec.
  const plain = message.map((value) => JSON.parse(JSON.stringify(value)) as Message);

  it('writes one line that reads back as the same message', () => {
    fc.assert(
      fc.property(plain, (message) => {
        const text = writeMessage(message);
        expect(text).not.toMatch(/[\r\n]/);
        expect(read(text)).toStrictEqual({ kind: 'message', message });
      }),
    );
  });

  it('writes a batch that reads back as the same messages', () => {
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1 }), (messages) => {
        const items = messages.map((message) => ({ kind: 'message', message }));
        expect(read(writeMessage(messages))).toStrictEqual({ kind: 'batch', items });
      }),
    );
  });

  it('throws an internal error with its cause for a value that JSON cannot express', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const result of [circular, 1n]) {
      const write = (): string => writeMessage({ jsonrpc: '2.0', id: 1, result });
      expect(write).toThrow(GatewayError);
      expect(write).toThrow(expect.objectContaining({ code: 'INTERNAL', cause: expect.any(TypeError) }));
      expect(write).toThrow(ERRORS.INTERNAL.message);
    }
  });
});
