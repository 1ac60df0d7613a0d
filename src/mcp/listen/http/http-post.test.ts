import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { GatewayError } from '../../../kernel/base/errors.ts';
import { settled } from '../../eras/fake-context.contract.ts';
import { readRequestBody, readAccept } from './http-post.ts';

function body(headers: Record<string, string> = {}, maxBytes = 10) {
  const stream = new PassThrough();
  const outcomes: (string | GatewayError)[] = [];
  readRequestBody(Object.assign(stream, { headers }) as unknown as IncomingMessage, maxBytes, (text) =>
    outcomes.push(text),
  );
  return { stream, outcomes };
}

it('a request body is one text, even if a character was split', async () => {
  const { stream, outcomes } = body();
  const bytes = Buffer.from('aéz');
  for (const byte of bytes) stream.write(Buffer.of(byte));
  stream.end();
  await settled();
  expect(outcomes).toEqual(['aéz']);
});

it('a body that is announced as too large is refused before it is read', () => {
  const { stream, outcomes } = body({ 'content-length': '11' });
  expect(outcomes).toMatchObject([{ code: 'MESSAGE_TOO_LARGE' }]);
  expect(stream.listenerCount('data')).toBe(0);
});

it('a body that turns out too large is refused once and the rest discarded', async () => {
  const { stream, outcomes } = body({ 'transfer-encoding': 'chunked' });
  for (let chunk = 0; chunk < 100; chunk++) stream.write(Buffer.alloc(5));
  stream.end();
  await settled();
  expect(outcomes).toMatchObject([{ code: 'MESSAGE_TOO_LARGE', details: { limit: 10 } }]);
  expect(stream.readableLength).toBe(0);
});

it('a body of exactly the allowed size is accepted', async () => {
  const { stream, outcomes } = body({ 'content-length': '10' });
  stream.end('0123456789');
  await settled();
  expect(outcomes).toEqual(['0123456789']);
});

it('the body of a client that hangs up is never delivered', async () => {
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
])('a body that a parser has already read is used: %s', (_, read, text) => {
  const outcomes: unknown[] = [];
  const request = { headers: {}, readableEnded: true, body: read } as unknown as IncomingMessage;
  readRequestBody(request, 10, (outcome) => outcomes.push(outcome));
  expect(outcomes).toEqual([text]);
});

it('a body that another parser has consumed is reported as missing at once', () => {
  const outcomes: unknown[] = [];
  readRequestBody({ headers: {}, readableEnded: true } as unknown as IncomingMessage, 10, (outcome) =>
    outcomes.push(outcome),
  );
  expect(outcomes).toMatchObject([{ code: 'BODY_READ_BEFORE', row: { hint: expect.stringContaining('Mount') } }]);
});

it.each([
  [undefined, true, false],
  ['application/json, text/event-stream', true, true],
  ['text/event-stream,application/json', true, true],
  ['application/json', true, false],
  ['text/event-stream', false, true],
  ['*/*', true, true],
  ['application/*', true, false],
  ['text/*', false, true],
  ['TEXT/Event-Stream;q=0.9 , Application/JSON; charset=utf-8', true, true],
  ['text/html', false, false],
  ['', false, false],
  ['application/json-seq, text/event-streams', false, false],
])('Accept: %j means JSON %s, stream %s', (accept, json, stream) => {
  expect(readAccept(accept)).toEqual({ json, stream });
});
