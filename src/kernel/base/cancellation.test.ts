import { expect, test } from 'vitest';
import { Cancellation, toSignal } from './cancellation.ts';

test('listeners are called once, and removed ones never', () => {
  const cancellation = new Cancellation();
  const told: string[] = [];
  const leaver = (): void => void told.push('leaver');
  cancellation.addEventListener('abort', leaver);
  cancellation.addEventListener('abort', () => told.push('stayer'));
  cancellation.removeEventListener('abort', leaver);
  cancellation.abort();
  cancellation.abort();
  expect(told).toEqual(['stayer']);
});

test('the signal of a cancellation aborts with it, in any order of creation', () => {
  const [before, after] = [new Cancellation(), new Cancellation()];
  const { signal } = before;
  expect(signal.aborted).toBe(false);
  before.abort('enough');
  after.abort('enough');
  expect([signal.aborted, signal.reason]).toEqual([true, 'enough']);
  expect([after.signal.aborted, after.signal.reason]).toEqual([true, 'enough']);
});

test('a cancellation without a reason is an AbortError', () => {
  const cancellation = new Cancellation();
  cancellation.abort();
  expect(cancellation.reason).toMatchObject({ name: 'AbortError' });
  expect(cancellation.signal.reason).toBe(cancellation.reason);
});

test('toSignal returns a signal unchanged', () => {
  const { signal } = new AbortController();
  expect(toSignal(signal)).toBe(signal);
});
