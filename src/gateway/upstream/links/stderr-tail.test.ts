import { expect, it } from 'vitest';
import { StderrTail } from './stderr-tail.ts';

const SECRET = 'swordfishes';

it('masks what was given to the child, in pieces, too', () => {
  const tail = new StderrTail({ WORD: SECRET, LEVEL: 'info' });
  const logged = [Buffer.from('info: sword'), Buffer.from('fishes\nno '), Buffer.from('end')].map((one) =>
    tail.push(one),
  );
  expect([...logged, tail.end(), tail.end()]).toEqual(['', 'info: [redacted]\n', '', 'no end', '']);
  expect(tail.text()).toBe('info: [redacted]\nno end');
});

it('does not wait for the end of a line without end', () => {
  const tail = new StderrTail();
  expect(tail.push(Buffer.alloc(5000, 'x'))).toHaveLength(5000);
  expect(tail.end()).toBe('');
});
