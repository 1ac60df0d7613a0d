import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Clock } from './clock.ts';
import { pause, rejectOnAbort, unlessAborted, unlessLate } from './timing.ts';

const toReason = () => new Error('given up');

test('rejectOnAbort settles with whichever is first and leaves no listener', async () => {
  const { signal } = new AbortController();
  expect(await rejectOnAbort(Promise.resolve(1), signal, toReason)).toBe(1);
  await expect(rejectOnAbort(Promise.reject(new Error('no')), signal, toReason)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('rejectOnAbort rejects at once, before and while waiting', async () => {
  const never = new Promise(() => {});
  await expect(rejectOnAbort(never, AbortSignal.abort(), toReason)).rejects.toThrow('given up');
  const controller = new AbortController();
  const waiting = rejectOnAbort(never, controller.signal, toReason);
  controller.abort();
  await expect(waiting).rejects.toThrow('given up');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
});

test('rejectOnAbort without a signal just waits', async () => {
  expect(await rejectOnAbort(Promise.resolve(2), undefined, toReason)).toBe(2);
});

test('unlessAborted resolves to undefined on abort and leaves no listener', async () => {
  const controller = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), controller.signal)).toBe(1);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  const waiting = unlessAborted(new Promise(() => {}), controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  expect(await unlessAborted(Promise.resolve(1), controller.signal)).toBeUndefined();
});

test('unlessLate and pause cancel the timer that is no longer needed', async () => {
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    after(_ms, callback) {
      timers.add(callback);
      return () => void timers.delete(callback);
    },
  };
  expect(await unlessLate(Promise.resolve(1), clock, 5)).toBe(1);
  expect(await pause(clock, 5, AbortSignal.abort())).toBe(false);
  expect(timers.size).toBe(0);
  const waiting = [unlessLate(new Promise(() => {}), clock, 5), pause(clock, 5)];
  for (const due of timers) due();
  expect(await Promise.all(waiting)).toEqual([undefined, true]);
});
