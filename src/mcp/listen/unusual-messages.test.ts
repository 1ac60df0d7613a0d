import { expect, it } from 'vitest';
import type { Message } from '../../kernel/message.ts';
import { toResult } from '../../kernel/message.ts';
import { RecordingOutlet, fakeContext } from '../eras/fake-context.contract.ts';
import { encodeAnswer } from './http/http-post.ts';
import { splitOutlet } from './unusual-messages.ts';

const circle: Record<string, unknown> = {};
circle.self = circle;

it.each([
  ['a BigInt', { n: 1n }],
  ['a circle', circle],
  [
    'something that throws',
    {
      toJSON: () => {
        throw new Error('secret');
      },
    },
  ],
])('%s in a result becomes an error with the same id, and is logged', (_, value) => {
  const { log, lines } = fakeContext();
  const text = encodeAnswer(toResult('id', value), log);
  expect(JSON.parse(String(text))).toEqual({
    jsonrpc: '2.0',
    id: 'id',
    error: { code: -32603, message: 'Internal error' },
  });
  expect(lines.join()).toContain('answer.unwritable');
});

it('an answer that cannot be encoded does not affect the rest of its batch', () => {
  const answers: Message[] = [toResult(1, {}), toResult(2, 1n), toResult('3', null)];
  const batch = JSON.parse(String(encodeAnswer(answers, fakeContext().log))) as { id: unknown; error?: unknown }[];
  expect(batch.map(({ id, error }) => [id, error !== undefined])).toEqual([
    [1, false],
    [2, true],
    ['3', false],
  ]);
});

it('a batch is answered with its last item, and a batch of notifications never', () => {
  const outlet = new RecordingOutlet();
  const items = splitOutlet(outlet, 3);
  items[2]!.end(toResult(3, {}));
  items[0]!.end();
  expect(outlet.ends).toEqual([]);
  items[1]!.end(toResult(1, {}));
  expect(outlet.ends).toEqual([[toResult(3, {}), toResult(1, {})]]);
  const silent = new RecordingOutlet();
  for (const item of splitOutlet(silent, 2)) item.end();
  expect(silent.ends).toEqual([undefined]);
});
