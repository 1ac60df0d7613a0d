import { expect, test } from 'vitest';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import type { OutgoingCall } from '../../kernel/server-view.ts';
import { toWireRequest } from '../eras/speak/wire-request.ts';
import { PendingCalls } from './pending-calls.ts';

function setUp() {
  const clock = new FakeClock();
  const timedOut: [unknown, number][] = [];
  const pending = new PendingCalls(
    clock,
    { timeoutMs: 100, maxTimeoutMs: 1000 },
    {
      onTimeout: ({ id }, ms) => timedOut.push([id, ms]),
      onAbort: ({ id }) => outcomes.push({ id, aborted: true }),
    },
  );
  const outcomes: unknown[] = [];
  const add = (id: number, { endless = false, ...call }: Partial<OutgoingCall> & { endless?: boolean } = {}) => {
    const one = Object.assign(toWireRequest({ method: 'tools/call', ...call }, { endless }), { id });
    one.resolve = (result) => outcomes.push({ id, result });
    one.reject = (error) => outcomes.push({ id, error });
    pending.add(one);
  };
  return { clock, timedOut, pending, outcomes, add };
}

const result = (id: number, value: unknown = {}) => ({ jsonrpc: '2.0' as const, id, result: value });

test('a call is settled once by its answer, and a late answer is ignored', () => {
  const { pending, outcomes, timedOut, add, clock } = setUp();
  add(1);
  expect(pending.settle(result(1, { ok: true }))).toBe(true);
  expect(pending.settle(result(1, { ok: false }))).toBe(false);
  expect(outcomes).toEqual([{ id: 1, result: { ok: true } }]);
  clock.advance(100);
  expect(timedOut).toEqual([]);
  expect(clock.timers).toBe(0);
});

test('an error of the server is a ProtocolError with its data', () => {
  const { pending, outcomes, add } = setUp();
  add(1);
  pending.settle({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'no', data: { a: 1 } } });
  expect(outcomes).toMatchObject([{ id: 1, error: { code: -32000, message: 'no', data: { a: 1 } } }]);
  expect((outcomes[0] as { error: unknown }).error).toBeInstanceOf(ProtocolError);
});

test('ids keep their type', () => {
  const { pending, outcomes, add } = setUp();
  add(1);
  expect(pending.settle({ jsonrpc: '2.0', id: '1', result: {} })).toBe(false);
  expect(outcomes).toEqual([]);
});

test('silence times out, and the answer after it is dropped', () => {
  const { clock, timedOut, pending, outcomes, add } = setUp();
  add(1);
  clock.advance(99);
  expect(timedOut).toEqual([]);
  clock.advance(1);
  expect(timedOut).toEqual([[1, 100]]);
  expect(pending.settle(result(1))).toBe(false);
  expect(outcomes).toEqual([]);
  expect(clock.timers).toBe(0);
});

test('progress restarts the time of silence, up to the upper bound', () => {
  const { clock, timedOut, pending, add } = setUp();
  const heard: number[] = [];
  add(1, { onProgress: ({ progress }) => heard.push(progress) });
  for (let n = 1; n <= 12; n++) {
    clock.advance(90);
    pending.progress(1, { progress: n });
  }
  expect(heard).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(timedOut).toEqual([[1, 1000]]);
});

test('a notification of the call is a sign of life too', () => {
  const { clock, timedOut, pending, add } = setUp();
  const heard: string[] = [];
  add(1, { onNotify: ({ method }) => heard.push(method) });
  clock.advance(90);
  pending.tell(1, { jsonrpc: '2.0', method: 'note' });
  clock.advance(90);
  expect([heard, timedOut]).toEqual([['note'], []]);
  clock.advance(10);
  expect(timedOut).toEqual([[1, 100]]);
});

test('progress for a finished call is ignored', () => {
  const { pending, add } = setUp();
  add(1);
  pending.settle(result(1));
  expect(pending.progress(1, { progress: 1 })).toBe(false);
  expect(pending.progress('1', { progress: 1 })).toBe(false);
});

test('the clock of a call stands still while questions of it are open, and no other clock does', () => {
  const { clock, timedOut, pending, add } = setUp();
  add(1);
  add(2);
  clock.advance(90);
  const { call } = pending.get(1)!;
  const resume = pending.pauseTimeouts(call);
  const second = pending.pauseTimeouts(call);
  add(3);
  clock.advance(100);
  expect(timedOut.map(([id]) => id)).toEqual([2, 3]);
  resume();
  resume();
  clock.advance(300);
  expect(timedOut).toHaveLength(2);
  second();
  clock.advance(99);
  expect(timedOut).toHaveLength(2);
  clock.advance(1);
  expect(timedOut.map(([id]) => id)).toEqual([2, 3, 1]);
});

test('if the asking call is unknown, all pending calls are paused', () => {
  const { clock, timedOut, pending, add } = setUp();
  add(1);
  add(2);
  const resume = pending.pauseTimeouts();
  add(3);
  clock.advance(500);
  expect(timedOut.map(([id]) => id)).toEqual([3]);
  pending.settle(result(1));
  resume();
  clock.advance(100);
  expect(timedOut.map(([id]) => id)).toEqual([3, 2]);
});

test('an open question does not lift the upper bound', () => {
  const { clock, timedOut, pending, add } = setUp();
  add(1);
  pending.pauseTimeouts();
  clock.advance(1000);
  expect(timedOut).toEqual([[1, 1000]]);
});

test('a call has its own times, and Infinity means never', () => {
  const { clock, timedOut, add } = setUp();
  add(1, { timeoutMs: 20 });
  add(2, { timeoutMs: Infinity, maxTimeoutMs: Infinity });
  add(3, { timeoutMs: 2 ** 31, maxTimeoutMs: 50 });
  clock.advance(50);
  expect(timedOut).toEqual([
    [1, 20],
    [3, 50],
  ]);
  expect(clock.timers).toBe(0);
});

test('a call without an end has no clock', () => {
  const { clock, timedOut, pending, add } = setUp();
  add(1, { endless: true });
  pending.pauseTimeouts()();
  pending.tell(1, { jsonrpc: '2.0', method: 'note' });
  clock.advance(1e9);
  expect([timedOut, clock.timers, pending.size]).toEqual([[], 0, 1]);
});

test('the sole call is the one that has an end', () => {
  const { pending, add } = setUp();
  add(1, { endless: true });
  expect(pending.sole()).toBeUndefined();
  add(2);
  expect(pending.sole()?.id).toBe(2);
  add(3);
  expect(pending.sole()).toBeUndefined();
});

test('when the connection ends, all pending calls are rejected and no timer is left', () => {
  const { clock, pending, outcomes, add } = setUp();
  add(1);
  add(2, { endless: true });
  pending.fail(() => new GatewayError('UPSTREAM_CLOSED', { server: 'x', reason: 'y' }));
  expect(outcomes).toMatchObject([
    { id: 1, error: { code: 'UPSTREAM_CLOSED' } },
    { id: 2, error: { code: 'UPSTREAM_CLOSED' } },
  ]);
  expect([clock.timers, pending.size]).toEqual([0, 0]);
});
