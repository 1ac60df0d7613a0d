import { describe, expect, it } from 'vitest';
import { ResponseBody } from './response-body.ts';

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
  const body = new ResponseBody((reason) => givenUp.push(reason.message));
  for (const chunk of chunks) body.push(Buffer.from(chunk));
  return { body, givenUp };
}

describe('the body of a response', () => {
  it('waits for its reader, in its order, and goes on', () => {
    const { body } = bodyOf('a', 'b');
    const told = reading(body);
    body.push(Buffer.from('c'));
    body.end();
    expect(told).toEqual(['a', 'b', 'c', 'end']);
  });

  it('that has come whole, or has broken off before, is told with its end', () => {
    const { body: whole } = bodyOf('a');
    whole.end();
    const { body: broken } = bodyOf('a');
    broken.end(new Error('gone'));
    expect([reading(whole), reading(broken)]).toEqual([
      ['a', 'end'],
      ['a', 'broken: gone'],
    ]);
  });

  it('is given up once, also in the midst of what waited, and nothing more is told', () => {
    const { body, givenUp } = bodyOf('a', 'b');
    const told = reading(body, 1);
    body.push(Buffer.from('c'));
    body.end();
    body.destroy();
    expect([told, givenUp]).toEqual([['a', 'broken: aborted'], ['aborted']]);
  });
});
