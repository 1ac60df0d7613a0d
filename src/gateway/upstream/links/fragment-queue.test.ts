import { expect, test } from 'vitest';
import { FragmentQueue } from './fragment-queue.ts';

const MUCH = 256 * 1024;

/** A socket that records its frames, and takes them when it is told to. */
function setUp() {
  const frames: { text: string; fin: boolean }[] = [];
  const waiting: { bytes: number; done: (error?: Error) => void }[] = [];
  const socket = {
    bufferedAmount: 0,
    send(text: string, { fin }: { fin: boolean }, done: (error?: Error) => void) {
      frames.push({ text, fin });
      waiting.push({ bytes: text.length, done });
      this.bufferedAmount += text.length;
    },
  };
  let taken = 0;
  const queue = new FragmentQueue(socket as never, () => taken++);
  const take = (error?: Error): void => {
    const { bytes, done } = waiting.shift()!;
    socket.bufferedAmount -= bytes;
    done(error);
  };
  return { queue, frames, take, taken: () => taken };
}

test('a small message is one frame, and leaves at once', async () => {
  const { queue, frames, take } = setUp();
  const sent = queue.send('small');
  expect(frames).toEqual([{ text: 'small', fin: true }]);
  take();
  await sent;
  expect(queue.length).toBe(0);
});

test('a large message leaves in fragments, and each that is taken shows that the server reads', async () => {
  const { queue, frames, take, taken } = setUp();
  const text = 'x'.repeat(2 * MUCH + 1);
  const sent = queue.send(text);
  const next = queue.send('next');
  expect([frames.length, queue.length]).toEqual([1, text.length + 4]);
  take();
  expect([taken(), frames.length]).toEqual([1, 2]);
  take();
  take();
  await sent;
  take();
  await next;
  expect(frames.map(({ fin }) => fin)).toEqual([false, false, true, true]);
  expect(
    frames
      .slice(0, 3)
      .map((frame) => frame.text)
      .join(''),
  ).toBe(text);
});

test('a character is not divided between two fragments', () => {
  const { queue, frames } = setUp();
  void queue.send(`${'x'.repeat(MUCH - 1)}😀`);
  queue.flush();
  expect(frames.map(({ text }) => text.length)).toEqual([MUCH - 1, 2]);
});

test('what waits for a socket that has closed is refused', async () => {
  const { queue, take } = setUp();
  const sent = queue.send('x'.repeat(MUCH + 1));
  take(new Error('closed'));
  take(new Error('closed'));
  await expect(sent).rejects.toThrow('closed');
});

test('what waits is counted in bytes', () => {
  const { queue } = setUp();
  void queue.send('x'.repeat(MUCH));
  void queue.send('中'.repeat(100));
  expect(queue.length).toBe(MUCH + 300);
});
