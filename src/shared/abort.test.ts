import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { orAborted } from './abort.ts';

const toReason = () => new Error('given up');

test('what is settled first counts, and no listener is left', async () => {
  const { signal } = new AbortController();
  expect(await orAborted(Promise.resolve(1), signal, toReason)).toBe(1);
  await expect(orAborted(Promise.reject(new Error('no')), signal, toReason)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('giving up rejects at once, before and while waiting', async () => {
  const never = new Promise(() => {});
  await expect(orAborted(never, AbortSignal.abort(), toReason)).rejects.toThrow('given up');
  const controller = new AbortController();
  const waiting = orAborted(never, controller.signal, toReason);
  controller.abort();
  await expect(waiting).rejects.toThrow('given up');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
});

test('without a signal it just waits', async () => {
  expect(await orAborted(Promise.resolve(2), undefined, toReason)).toBe(2);
});
