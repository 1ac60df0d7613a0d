import { expect, test } from 'vitest';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { Backoff, retryOpening } from './backoff.ts';

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

const busy = (retryAfterMs?: number) =>
  new GatewayError('UPSTREAM_BUSY', { server: 'x', reason: 'HTTP 429', status: 429, retryAfterMs });

function quick() {
  const waits: number[] = [];
  const pause = async (ms: number) => void waits.push(ms);
  return { backoff: new Backoff({ firstMs: 100, random: () => 1 }), pause, waits };
}

function failing(...errors: Error[]) {
  const attempts: number[] = [];
  const work = async () => {
    attempts.push(attempts.length);
    const error = errors[attempts.length - 1];
    if (error) throw error;
    return 'done';
  };
  return { attempts, work };
}

test.each([
  ['busy', busy()],
  ['starting', new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'HTTP 503', status: 503 })],
  [
    'behind a gateway that is',
    new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'HTTP 502', status: 502 }),
  ],
])('a server that is %s is tried again', async (_, error) => {
  const { attempts, work } = failing(error, error);
  expect(await retryOpening(work, quick())).toBe('done');
  expect(attempts).toHaveLength(3);
});

test('it does not retry for ever', async () => {
  const { attempts, work } = failing(...Array.from({ length: 9 }, () => busy()));
  await expect(retryOpening(work, quick())).rejects.toMatchObject({ code: 'UPSTREAM_BUSY' });
  expect(attempts).toHaveLength(4);
});

test('a long wait is reported to the caller instead', async () => {
  const { attempts, work } = failing(busy(60_000));
  await expect(retryOpening(work, quick())).rejects.toMatchObject({ retryAfterMs: 60_000 });
  expect(attempts).toHaveLength(1);
});

test('each wait is longer than the one before, and never shorter than what the server asks for', async () => {
  const { work } = failing(busy(), busy(5000), busy());
  const patience = quick();
  await retryOpening(work, patience);
  expect(patience.waits).toEqual([100, 5000, 400]);
});

test.each([
  ['a refused login', new GatewayError('UPSTREAM_UNAUTHORIZED', { server: 'x', status: 401 })],
  ['nobody there', new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'ECONNREFUSED' })],
  ['an error of the server', new ProtocolError(-32603, 'no')],
  ['a defect', new TypeError('x')],
])('%s is not tried again', async (_, error) => {
  const { attempts, work } = failing(error);
  await expect(retryOpening(work, quick())).rejects.toBe(error);
  expect(attempts).toHaveLength(1);
});

test('an abort ends the wait', async () => {
  const controller = new AbortController();
  const { attempts, work } = failing(busy(), busy());
  const waiting = retryOpening(work, { signal: controller.signal, backoff: new Backoff({ firstMs: 30_000 }) });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  expect(attempts).toHaveLength(1);
});
