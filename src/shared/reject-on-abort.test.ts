import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { rejectOnAbort } from './reject-on-abort.ts';

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
