import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { GatewayError } from '../../../shared/errors.ts';
import { settled } from '../../dialect/fake-context.contract.ts';
import { readRequestBody } from './read-request-body.ts';

function body(headers: Record<string, string> = {}, maxBytes = 10) {
  const stream = new PassThrough();
  const outcomes: (string | GatewayError)[] = [];
  readRequestBody(Object.assign(stream, { headers }) as unknown as IncomingMessage, maxBytes, (text) =>
    outcomes.push(text),
  );
  return { stream, outcomes };
}

it('is one text, however it was cut, even within a character', async () => {
  const { stream, outcomes } = body();
  const bytes = Buffer.from('aéz');
  for (const byte of bytes) stream.write(Buffer.of(byte));
  stream.end();
  await settled();
  expect(outcomes).toEqual(['aéz']);
});

it('announced as too large is refused before a byte is read', () => {
  const { stream, outcomes } = body({ 'content-length': '11' });
  expect(outcomes).toMatchObject([{ code: 'MESSAGE_TOO_LARGE' }]);
  expect(stream.listenerCount('data')).toBe(0);
});

it('that turns out too large is refused once, and the rest is thrown away', async () => {
  const { stream, outcomes } = body({ 'transfer-encoding': 'chunked' });
  for (let chunk = 0; chunk < 100; chunk++) stream.write(Buffer.alloc(5));
  stream.end();
  await settled();
  expect(outcomes).toMatchObject([{ code: 'MESSAGE_TOO_LARGE', details: { limit: 10 } }]);
  expect(stream.readableLength).toBe(0);
});

it('of exactly the allowed size is taken', async () => {
  const { stream, outcomes } = body({ 'content-length': '10' });
  stream.end('0123456789');
  await settled();
  expect(outcomes).toEqual(['0123456789']);
});

it('of a client that hangs up is never heard of', async () => {
  const { stream, outcomes } = body();
  stream.on('error', () => {});
  stream.write('half');
  stream.destroy(new Error('aborted'));
  await settled();
  expect(outcomes).toEqual([]);
});

it.each([
  ['an object', { a: 1 }, '{"a":1}'],
  ['a text', '{"a" :1}', '{"a" :1}'],
  ['bytes', Buffer.from('{}'), '{}'],
])('that a body parser has read already is taken from it: %s', (_, read, text) => {
  const outcomes: unknown[] = [];
  const request = { headers: {}, readableEnded: true, body: read } as unknown as IncomingMessage;
  readRequestBody(request, 10, (outcome) => outcomes.push(outcome));
  expect(outcomes).toEqual([text]);
});

it('that was read and thrown away is missing, and never waited for', () => {
  const outcomes: unknown[] = [];
  readRequestBody({ headers: {}, readableEnded: true } as unknown as IncomingMessage, 10, (outcome) =>
    outcomes.push(outcome),
  );
  expect(outcomes).toMatchObject([{ code: 'BODY_READ_BEFORE', row: { hint: expect.stringContaining('Mount') } }]);
});
