import { describe, expect, it } from 'vitest';
import { FakeClock } from '../fake-exchange.contract.ts';
import { RateLimiter, readRate } from './rate.ts';

describe('a rate', () => {
  it.each([
    ['10/s', { count: 10, perMs: 1000 }],
    ['60/min', { count: 60, perMs: 60_000 }],
    ['1000/h', { count: 1000, perMs: 3_600_000 }],
    ['1/day', { count: 1, perMs: 86_400_000 }],
  ])('is read from %s', (text, rate) => expect(readRate(text)).toEqual(rate));

  it.each(['', '0/s', '-1/s', '1', '1.5/s', '10/sec', '10/ s', ' 10/s', '1e9/s', '9999999999/s', '10/min/s'])(
    'a rate is not %j',
    (text) => expect(readRate(text)).toBeUndefined(),
  );
});

describe('a rate limiter', () => {
  it('lets a burst pass, then one for each part of the time', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ count: 3, perMs: 3000 }, clock);
    expect([1, 2, 3].map(() => limiter.take('a'))).toEqual([0, 0, 0]);
    expect(limiter.take('a')).toBe(1000);
    expect(limiter.take('b')).toBe(0);
    await clock.advance(999);
    expect(limiter.take('a')).toBe(1);
    await clock.advance(1);
    expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 1000]);
  });

  it('never lets more pass in a long time than the rate says, and one burst', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ count: 60, perMs: 60_000 }, clock);
    let passed = 0;
    for (let tenths = 0; tenths < 6000; tenths++) {
      if (limiter.take('a') === 0) passed++;
      await clock.advance(100);
    }
    expect(passed).toBe(60 + 599);
  });

  it('counts nothing when it refuses, so that who asks in vain does not wait longer', async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter({ count: 1, perMs: 1000 }, clock);
    limiter.take('a');
    for (let tries = 0; tries < 100; tries++) expect(limiter.take('a')).toBe(1000);
    await clock.advance(1000);
    expect(limiter.take('a')).toBe(0);
  });

  it('forgets the oldest keys', () => {
    const limiter = new RateLimiter({ count: 1, perMs: 1000 }, new FakeClock(), 2);
    for (const key of ['a', 'b', 'c']) limiter.take(key);
    expect(['a', 'c'].map((key) => limiter.waitMs(key))).toEqual([0, 1000]);
  });
});
