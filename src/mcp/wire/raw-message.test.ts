import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RawObject } from '../../kernel/raw/raw-object.ts';
import { readMessage } from './json-rpc.ts';
import type { ParsedInput } from './json-rpc.ts';
import { JsonScan, readRaw } from './raw-message.ts';
import { membersText, objectText, valueText } from './json-text.contract.ts';

const limits = { maxDepth: 20 };

function plain({ kind, ...incoming }: ParsedInput): unknown {
  return kind === 'message' && 'message' in incoming ? incoming.message : undefined;
}

/** The value that raw reading returns; undefined if it is unsure. */
function rawly(bytes: Buffer): unknown {
  const message = readRaw(bytes, limits);
  return message && { ...message, result: (message.result as RawObject).parse() };
}

describe('the JSON scanner', () => {
  const accepts = (text: string, maxDepth = 512): boolean => {
    const scan = new JsonScan(Buffer.from(text));
    return scan.value(maxDepth) && scan.isAtEnd;
  };

  it('accepts what JSON.parse accepts', () => {
    fc.assert(
      fc.property(valueText, (text) => {
        JSON.parse(text);
        expect(accepts(text)).toBe(true);
      }),
    );
  });

  it.each([
    '',
    '01',
    '-',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '0x1',
    'tru',
    'nulll',
    'True',
    '"',
    '"\\',
    '"\\x"',
    '"\\u12g4"',
    '"\\u123',
  ])('refuses %j, as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(accepts(text)).toBe(false);
  });

  it.each([
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    '{"a":1,}',
    '{"a" 1}',
    '[1}',
    '{"a":1]',
    '[[1]',
    '[1]]',
    '{1:2}',
  ])('refuses %j, as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(accepts(text)).toBe(false);
  });

  it('never accepts what JSON.parse refuses', () => {
    const soup = fc.array(fc.constantFrom(...'{}[]",:\\/ tfn01-.eEu\n\r\t\0é'.split(''), 'true', 'null', '\\u00'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(soup, (pieces) => {
        const text = pieces.join('');
        if (accepts(text)) JSON.parse(text);
      }),
      { numRuns: 5000 },
    );
  });

  it('finds the end of a string at any position and alignment', () => {
    for (let offset = 0; offset < 4; offset++) {
      for (let length = 0; length < 24; length++) {
        for (const byte of [0x00, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff]) {
          const held = Buffer.from(new ArrayBuffer(64), offset, length + 3);
          held.fill(0x61).write('"', 0);
          held[length + 1] = byte;
          held[length + 2] = 0x22;
          const scan = new JsonScan(held);
          const isPlain = byte >= 0x20 && byte !== 0x5c;
          expect(scan.string(), `${byte} at ${length}`).toBe(isPlain);
          if (isPlain) expect(scan.at).toBe(byte === 0x22 ? length + 2 : length + 3);
        }
      }
    }
  });

  it('counts nesting levels', () => {
    expect(accepts('[[[]]]', 3)).toBe(true);
    expect(accepts('[[[]]]', 2)).toBe(false);
    expect(accepts('[{"a":[1]},2]', 3)).toBe(true);
    expect(accepts('1', 0)).toBe(true);
    expect(accepts('['.repeat(100_000), 512)).toBe(false);
  });
});

describe('readRaw', () => {
  const answer = fc
    .tuple(membersText.chain(objectText), fc.constantFrom('1', '"a"', '-2.5', '"\\u0041"'), fc.boolean())
    .map(([result, id, isFirst]) => {
      const members: [string, string][] = [
        ['"jsonrpc"', '"2.0"'],
        ['"id"', id],
      ];
      members.splice(isFirst ? 0 : 2, 0, ['"result"', result]);
      return members;
    })
    .chain(objectText);

  it('returns the same message as readMessage or none', () => {
    let read = 0;
    fc.assert(
      fc.property(answer, (text) => {
        const message = rawly(Buffer.from(text));
        if (message === undefined) return;
        read++;
        expect(message).toEqual(plain(readMessage(text, limits)));
      }),
    );
    expect(read).toBeGreaterThan(50); // otherwise the test is empty
  });

  it('returns the same message as readMessage for a key that has had a long number and has a text', () => {
    const text = '{"jsonrpc":"2.0","id":1,"result":{"a":{"b":9007199254740993,"b":""}}}';
    expect(rawly(Buffer.from(text))).toEqual(plain(readMessage(text, limits)));
  });

  it('returns the same message as readMessage or none for corrupted and truncated bytes', () => {
    const change = fc.record({ at: fc.nat(), byte: fc.nat(255), cut: fc.boolean() });
    fc.assert(
      fc.property(answer, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
        let bytes = Buffer.from(text);
        for (const { at, byte, cut } of changes) {
          if (cut) bytes = bytes.subarray(0, at % (bytes.length + 1));
          else if (bytes.length > 0) bytes[at % bytes.length] = byte;
        }
        const message = rawly(bytes);
        if (message !== undefined) expect(message).toEqual(plain(readMessage(bytes.toString(), limits)));
      }),
      { numRuns: 3000 },
    );
  });

  it.each(['-2E5', '1.0', '12345678901234567890'])('leaves an id in another form, %s, to readMessage', (id) => {
    expect(readRaw(Buffer.from(`{"jsonrpc":"2.0","result":{},"id":${id}}`), limits)).toBeUndefined();
  });

  it('keeps the bytes as they came', () => {
    const result = '{"n":12345678901234567890 , "e":1e400,"x":{"a":1,"a":2},"u":"\\u00e4ä"}';
    const message = readRaw(Buffer.from(`{"jsonrpc":"2.0","result":${result},"id":7} `), limits);
    expect(message!.id).toBe(7);
    expect(Buffer.concat((message!.result as RawObject).chunks()).toString()).toBe(result);
  });

  it.each([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"result":{}}]'],
    ['a request', '{"jsonrpc":"2.0","id":1,"method":"x","result":{}}'],
    ['an error', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}'],
    ['a result and an error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
    ['no id', '{"jsonrpc":"2.0","result":{}}'],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"result":{}}'],
    ['an infinite id', '{"jsonrpc":"2.0","id":1e400,"result":{}}'],
    ['another version', '{"jsonrpc":"2","id":1,"result":{}}'],
    ['no object', '{"jsonrpc":"2.0","id":1,"result":[]}'],
    ['two ids', '{"jsonrpc":"2.0","id":1,"id":2,"result":{}}'],
    ['two ids, one of them escaped', '{"jsonrpc":"2.0","id":1,"\\u0069d":2,"result":{}}'],
    ['a key of the result twice', '{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}'],
    ['a line end between values', '{"jsonrpc":"2.0","id":1,\n"result":{}}'],
    ['a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['more after it', '{"jsonrpc":"2.0","id":1,"result":{}}{}'],
    ['too many levels', `{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(19)}${']'.repeat(19)}}}`],
    [
      'too many members',
      `{"jsonrpc":"2.0","id":1,"result":{${Array.from({ length: 65 }, (_, n) => `"${n}":0`).join()}}}`,
    ],
  ])('leaves %s to the parser', (_, text) => {
    expect(readRaw(Buffer.from(text), limits)).toBeUndefined();
  });

  it('leaves invalid UTF-8 to the parser', () => {
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"?"}}');
    expect(readRaw(bytes, limits)).toBeDefined();
    bytes[bytes.indexOf('?')] = 0xff;
    expect(readRaw(bytes, limits)).toBeUndefined();
  });

  it('counts nesting levels as the parser does', () => {
    const nested = (levels: number) =>
      Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`);
    for (const levels of [17, 18, 19]) {
      const parsed = readMessage(nested(levels).toString(), limits).kind === 'message';
      expect(readRaw(nested(levels), limits) !== undefined).toBe(parsed);
    }
  });
});
