import { getEventListeners } from 'node:events';
import { describe, expect, it, test, vi } from 'vitest';
import type { Clock } from './clock.ts';
import { openPromise, pause, rejectOnAbort, unlessAborted, unlessLate } from './timing.ts';
import type { Settlers } from './timing.ts';

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

describe('openPromise', () => {
  function opened() {
    const controller = new AbortController();
    let by!: Settlers<string>;
    const takeBack = vi.fn();
    const promise = openPromise<string>(controller.signal, { begin: (settlers) => (by = settlers), takeBack });
    return { controller, by, takeBack, promise };
  }

  it('openPromise is settled by whom it was handed to, and a later abort takes nothing back', async () => {
    const one = opened();
    one.by.resolve('yes');
    one.controller.abort();
    expect(await one.promise).toBe('yes');
    const other = opened();
    other.by.reject(new Error('no'));
    other.controller.abort();
    await expect(other.promise).rejects.toThrow('no');
    expect([one.takeBack, other.takeBack].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  });

  it('openPromise is taken back once when the signal aborts first', async () => {
    const { controller, by, takeBack, promise } = opened();
    controller.abort();
    by.resolve('late');
    await expect(promise).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(takeBack).toHaveBeenCalledTimes(1);
  });

  it('openPromise may be settled at once', async () => {
    const takeBack = vi.fn();
    const { signal } = new AbortController();
    expect(await openPromise<number>(signal, { begin: ({ resolve }) => resolve(1), takeBack })).toBe(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(await openPromise<number>(undefined, { begin: ({ resolve }) => resolve(2), takeBack })).toBe(2);
  });
});
