import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMessage } from './json-rpc.ts';
import { readFastResult } from './fast-messages.ts';

const LIMITS = { maxDepth: 20 };
const read = (text: string) => readFastResult(text, LIMITS);
const result = '{"content":[{"type":"text","text":"a \\"b\\" ü"}],"n":12345678901234567890,"x":1.0}';

test.each([
  ['the id first', `{"jsonrpc":"2.0","id":7,"result":${result}}`],
  ['the result first', `{"result":${result},"jsonrpc":"2.0","id":7}`],
])('readFastResult keeps the text of the result: %s', (_, text) => {
  expect(read(text)).toEqual({
    message: { jsonrpc: '2.0', id: 7, result: JSON.parse(result) as unknown },
    sent: result,
  });
});

test.each([
  ['a second id behind the result', '{"jsonrpc":"2.0","id":7,"result":{},"id":8}'],
  ['the same id behind the result', '{"jsonrpc":"2.0","id":7,"result":{},"id":7}'],
  ['a second result', '{"jsonrpc":"2.0","id":7,"result":{"a":1},"result":{"b":2}}'],
  ['an error beside it', '{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}'],
  ['a method beside it', '{"result":{},"method":"ping","jsonrpc":"2.0","id":7}'],
  ['another id before it', '{"result":{},"id":8,"jsonrpc":"2.0","id":7}'],
  ['a key between', '{"jsonrpc":"2.0","id":7,"x":1,"result":{}}'],
  ['a line end', '{"jsonrpc":"2.0","id":7,"result":{\n}}'],
  ['a carriage return', '{"jsonrpc":"2.0","id":7,"result":{\r}}'],
  ['space', '{"jsonrpc": "2.0", "id": 7, "result": {}}'],
  ['something behind it', '{"jsonrpc":"2.0","id":7,"result":{}} '],
  ['space in an empty object', '{"jsonrpc":"2.0","id":7,"result":{ }}'],
  ['space before the first key', '{"jsonrpc":"2.0","id":7,"result":{ "a":1}}'],
  ['space behind the result', '{"jsonrpc":"2.0","id":7,"result":{"a":1} }'],
  ['space behind a result that is first', '{"result":{"a":1} ,"jsonrpc":"2.0","id":7}'],
  ['an array', '{"jsonrpc":"2.0","id":7,"result":[]}'],
  ['a string for an id', '{"jsonrpc":"2.0","id":"7","result":{}}'],
  ['a negative id', '{"jsonrpc":"2.0","id":-7,"result":{}}'],
  ['a fraction', '{"jsonrpc":"2.0","id":7.5,"result":{}}'],
  ['a leading zero', '{"jsonrpc":"2.0","id":07,"result":{}}'],
  ['too many digits', `{"jsonrpc":"2.0","id":${'9'.repeat(20)},"result":{}}`],
  ['half of it', '{"jsonrpc":"2.0","id":7,"result":{"a":'],
  ['no end', '{"jsonrpc":"2.0","id":7,"result":{"a":1}'],
  ['what is too deep', `{"jsonrpc":"2.0","id":7,"result":{"a":${'['.repeat(20)}${']'.repeat(20)}}}`],
  ['a request', '{"jsonrpc":"2.0","id":7,"method":"ping"}'],
  ['nothing', ''],
])('readFastResult leaves this to readMessage: %s', (_, text) => {
  expect(read(text)).toBeUndefined();
});

test('an accepted result equals the one of readMessage and contains nothing else', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    ',',
    '"',
    ':',
    '"id":',
    '7',
    '8',
    '"result":',
    '{}',
    '"jsonrpc":"2.0"',
    '"a"',
    '[',
    ']',
    ' ',
    '\\',
  );
  const text = fc
    .tuple(fc.constantFrom('{"jsonrpc":"2.0","id":7,"result":{', '{"result":{'), fc.array(piece, { maxLength: 12 }))
    .map(([head, rest]) => head + rest.join('') + (head.startsWith('{"result') ? ',"jsonrpc":"2.0","id":7}' : '}'));
  fc.assert(
    fc.property(text, (one) => {
      const taken = read(one);
      if (!taken) return;
      const known = readMessage(one, LIMITS);
      expect(known).toEqual({ kind: 'message', message: taken.message });
      expect(JSON.parse(taken.sent)).toEqual(taken.message.result);
      expect(one.split(taken.sent)).not.toHaveLength(1);
    }),
    { numRuns: 3000 },
  );
});
