import { expect, it } from 'vitest';
import { readAccept } from './http-post.ts';

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
