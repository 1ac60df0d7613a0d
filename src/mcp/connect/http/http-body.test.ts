import { describe, expect, it } from 'vitest';
import { writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import { ResponseBody, parseJsonOrText } from './http-body.ts';

/** A reader that notes what it is told, and may have enough of it. */
function reading(body: ResponseBody, enough = Infinity): string[] {
  const told: string[] = [];
  body.read({
    onData(chunk) {
      told.push(chunk.toString());
      if (told.length === enough) body.destroy();
    },
    onEnd: (error) => told.push(error ? `broken: ${error.message}` : 'end'),
  });
  return told;
}

function bodyOf(...chunks: string[]) {
  const givenUp: string[] = [];
  const body = new ResponseBody({
    abort: (reason) => givenUp.push(reason.message),
    pause: () => {},
    resume: () => {},
  });
  for (const chunk of chunks) body.push(Buffer.from(chunk));
  return { body, givenUp };
}

describe('the body of a response', () => {
  it('the body waits for its reader and keeps its order', () => {
    const { body } = bodyOf('a', 'b');
    const told = reading(body);
    body.push(Buffer.from('c'));
    body.end();
    expect(told).toEqual(['a', 'b', 'c', 'end']);
  });

  it('a reader that comes late gets the whole body or its error', () => {
    const { body: whole } = bodyOf('a');
    whole.end();
    const { body: broken } = bodyOf('a');
    broken.end(new Error('gone'));
    expect([reading(whole), reading(broken)]).toEqual([
      ['a', 'end'],
      ['a', 'broken: gone'],
    ]);
  });

  it('destroying the body ends it once, and delivers nothing more', () => {
    const { body, givenUp } = bodyOf('a', 'b');
    const told = reading(body, 1);
    body.push(Buffer.from('c'));
    body.end();
    body.destroy();
    expect([told, givenUp]).toEqual([['a', 'broken: aborted'], ['aborted']]);
  });
});

it('the body of an error response keeps numbers as they were sent', () => {
  const text = '{"error":{"data":{"n":12345678901234567890,"one":1.0}}}';
  expect(writeExactly(parseJsonOrText(text))).toBe(text);
});
