import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

test('the wait doubles up to its maximum, and starts again after a reset', () => {
  const backoff = new Backoff({ firstMs: 500, maxMs: 30_000, random: () => 1 });
  const waits = Array.from({ length: 8 }, () => backoff.nextMs());
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(backoff.failures).toBe(8);
  backoff.reset();
  expect([backoff.failures, backoff.nextMs()]).toEqual([0, 500]);
});

test('the jitter takes at most half of the wait', () => {
  expect(new Backoff({ firstMs: 500, random: () => 0 }).nextMs()).toBe(250);
  expect(new Backoff({ firstMs: 500, random: () => 0.5 }).nextMs()).toBe(375);
});

test('a link that fails for weeks still waits a finite time', () => {
  const backoff = new Backoff();
  for (let n = 0; n < 5000; n++) backoff.nextMs();
  expect(backoff.nextMs()).toBeLessThanOrEqual(30_000);
});
