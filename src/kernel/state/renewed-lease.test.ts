import { expect, it, vi } from 'vitest';
import { FakeClock } from '../fake-exchange.contract.ts';
import { RenewedLease } from './renewed-lease.ts';

const MS = 9000;

function createLease(renew: () => Promise<boolean>) {
  const clock = new FakeClock();
  const release = vi.fn(async () => {});
  const lease = new RenewedLease({ fence: 1, ms: MS, begun: clock.now(), clock, renew, release });
  const lost = vi.fn();
  lease.onLost(lost);
  return { clock, lease, lost, release };
}

it('a lease that is renewed stays sure', async () => {
  const renew = vi.fn(async () => true);
  const { clock, lease, lost } = createLease(renew);
  for (let passed = 0; passed < 3 * MS; passed += 1000) {
    await clock.advance(1000);
    await vi.waitFor(() => expect(clock.timers).toBe(2)); // the answer has come, and the next renewal waits
  }
  expect(renew.mock.calls.length).toBeGreaterThanOrEqual(8);
  expect(lease.isSure()).toBe(true);
  expect(lost).not.toHaveBeenCalled();
  await lease.release();
  expect(clock.timers).toBe(0);
});

it.each([
  ['fails', () => Promise.reject(new Error('away'))],
  ['hangs', () => new Promise<boolean>(() => {})],
])(
  'a lease whose renewal %s is lost after two thirds of its time, once, and is not released then',
  async (_, renew) => {
    const { clock, lease, lost, release } = createLease(renew);
    await clock.advance(MS / 3);
    await Promise.resolve();
    expect(lease.isSure()).toBe(true);
    await clock.advance(MS / 3 + 1);
    expect(lost).toHaveBeenCalledTimes(1);
    expect(lease.isSure()).toBe(false);
    await clock.advance(MS);
    await lease.release();
    expect(lost).toHaveBeenCalledTimes(1);
    expect(release).not.toHaveBeenCalled();
  },
);

it('a lease that another one has got is lost at once', async () => {
  const { clock, lease, lost } = createLease(async () => false);
  await clock.advance(MS / 3);
  await vi.waitFor(() => expect(lost).toHaveBeenCalledTimes(1));
  expect(lease.isSure()).toBe(false);
});

it('a process that slept for longer than its lease is not sure when it wakes, before anything else is known', () => {
  const { clock, lease } = createLease(async () => true);
  const late = clock.now() + MS;
  Object.assign(clock, { now: () => late });
  expect(lease.isSure()).toBe(false);
});
