import { describe, expect, test, vi } from 'vitest';
import { heldBytes } from '../../../kernel/base/held-bytes.ts';
import { Inbox } from './inbox.ts';
import { UnreadQueue } from './unread-queue.ts';

const LARGE = 100_000;
const SMALL = 100;

function full(waiting: number) {
  const queue = { waiting, given: '' };
  const unread = new UnreadQueue({
    server: 'foe',
    inbox: new Inbox({ maxBufferedBytes: 1_000_000 }),
    length: () => queue.waiting,
    giveUp: (reason) => (queue.given = reason),
  });
  return { queue, unread };
}

describe('a queue to a server', () => {
  test('refuses large messages when it is full, and small ones only above a reserve', () => {
    const { queue, unread } = full(1_000_001);
    expect(() => unread.admit(LARGE)).toThrow('1000001 bytes wait for it (limits.maxBufferedBytes)');
    expect(() => unread.admit(SMALL)).not.toThrow();
    queue.waiting = 1_250_001;
    expect(() => unread.admit(SMALL)).toThrow('wait for it');
    unread.end();
  });

  test('gives a server up that takes nothing, and not one that is slow', () => {
    vi.useFakeTimers();
    try {
      for (const [isSlow, given] of [
        [true, ''],
        [false, 'it does not read its input: 1000001 bytes wait for it (limits.maxBufferedBytes)'],
      ] as const) {
        const { queue, unread } = full(1_000_001);
        expect(() => unread.admit(LARGE)).toThrow('wait for it');
        vi.advanceTimersByTime(2000);
        if (isSlow) unread.taken();
        vi.advanceTimersByTime(2000);
        expect(queue.given).toBe(given);
        unread.end();
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test('counts against the budget of the process until it is taken or has ended', () => {
    const { queue, unread } = full(500_000);
    const before = heldBytes();
    unread.count();
    expect(heldBytes() - before).toBe(500_000);
    queue.waiting = 100_000;
    unread.taken();
    expect(heldBytes() - before).toBe(100_000);
    unread.end();
    expect(heldBytes()).toBe(before);
  });
});
