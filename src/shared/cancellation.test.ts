import { expect, test } from 'vitest';
import { Cancellation, toSignal } from './cancellation.ts';

test('who listens is told once, and who has left is not', () => {
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

test('its signal is aborted with it, whichever was first', () => {
  const [before, after] = [new Cancellation(), new Cancellation()];
  const { signal } = before;
  expect(signal.aborted).toBe(false);
  before.abort('enough');
  after.abort('enough');
  expect([signal.aborted, signal.reason]).toEqual([true, 'enough']);
  expect([after.signal.aborted, after.signal.reason]).toEqual([true, 'enough']);
});

test('without a reason it is an AbortError, as for a signal', () => {
  const cancellation = new Cancellation();
  cancellation.abort();
  expect(cancellation.reason).toMatchObject({ name: 'AbortError' });
  expect(cancellation.signal.reason).toBe(cancellation.reason);
});

test('a signal stays the signal it is', () => {
  const { signal } = new AbortController();
  expect(toSignal(signal)).toBe(signal);
});
