import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../kernel/exchange.ts';
import { CancelledByPeer } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { onAbort } from '../../../kernel/base/timing.ts';
import { FakeClock, FakeExchange, chainOf, settled } from '../../../kernel/fake-exchange.contract.ts';
import { retry } from '../retry/retry.ts';
import { timeout } from './timeout.ts';

/** A server that works until it is told to stop. */
function workFor(exchange: Exchange): Promise<never> {
  return new Promise((_, reject) => {
    onAbort(exchange.signal, () => reject(new GatewayError('CANCELLED')));
  });
}

const told = { code: 'UPSTREAM_TIMEOUT', message: 'files did not answer tools/call within 1000 ms' };

describe('timeout', () => {
  it('gives up after its time, and tells the server to stop', async () => {
    const clock = new FakeClock();
    let inner: Exchange | undefined;
    const call = chainOf([timeout({ ms: 1000, clock })], (exchange) => {
      exchange.server = 'files';
      return workFor((inner = exchange));
    });
    const answer = call('tools/call');
    await settled();
    await clock.advance(999);
    expect(inner!.signal.aborted).toBe(false);
    const failed = expect(answer).rejects.toMatchObject(told);
    await clock.advance(1);
    await failed;
    expect(inner!.signal.aborted).toBe(true);
  });

  it('a timeout does not wait for a server that will not stop', async () => {
    const clock = new FakeClock();
    const answer = chainOf([timeout({ ms: 1000, clock })], () => new Promise(() => {}))('tools/list');
    const failed = expect(answer).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await settled();
    await clock.advance(1000);
    await failed;
  });

  it('leaves no timer behind, nor a listener on the signal of the client', async () => {
    const clock = new FakeClock();
    const exchange = new FakeExchange('tools/call');
    expect(await chainOf([timeout({ ms: 1000, clock })], () => ({ ok: true }))(exchange)).toEqual({ ok: true });
    await clock.advance(1000); // the one timer of all calls finds nothing left to wait for
    expect(clock.timers).toBe(0);
    expect(getEventListeners(exchange.controller.signal, 'abort')).toEqual([]);
  });

  it('starts again with progress, unless told otherwise', async () => {
    for (const extend of [true, false]) {
      const clock = new FakeClock();
      let inner: Exchange | undefined;
      const answer = chainOf([timeout({ ms: 1000, extend, clock })], (exchange) => workFor((inner = exchange)))(
        'tools/call',
      );
      const ended = answer.catch(() => {});
      await settled();
      await clock.advance(600);
      inner!.progress({ progress: 1 });
      await clock.advance(600);
      expect(inner!.signal.aborted).toBe(!extend);
      await clock.advance(1000);
      await ended;
    }
  });

  it('stands still while the user is asked', async () => {
    const clock = new FakeClock();
    let answerUser: () => void = () => {};
    const exchange = new FakeExchange('tools/call');
    exchange.ask = () => new Promise((resolve) => (answerUser = () => resolve({ action: 'accept' })));
    const answer = chainOf([timeout({ ms: 1000, clock })], (inner) => inner.ask({ method: 'elicitation/create' }))(
      exchange,
    );
    await settled();
    await clock.advance(60_000);
    answerUser();
    expect(await answer).toEqual({ action: 'accept' });
    await clock.advance(1000); // the one timer of all calls finds nothing left to wait for
    expect(clock.timers).toBe(0);
  });

  it.each([
    ['before', (exchange: FakeExchange, reason: unknown) => exchange.controller.abort(reason), () => {}],
    ['during', () => {}, (exchange: FakeExchange, reason: unknown) => exchange.controller.abort(reason)],
  ])('hands on why the client gave up %s the call', async (_, before, during) => {
    const exchange = new FakeExchange('tools/call');
    const reason = new CancelledByPeer({ reason: 'too slow', _meta: { a: 1 } });
    const reasons: unknown[] = [];
    before(exchange, reason);
    const answer = chainOf([timeout(1000), timeout(2000)], (given) => {
      onAbort(given.signal, () => reasons.push(given.signal.reason, given.cancellation?.reason));
      return workFor(given);
    })(exchange);
    const failed = expect(answer).rejects.toMatchObject({ code: 'CANCELLED' });
    await settled();
    during(exchange, reason);
    await failed;
    expect(reasons).toEqual([reason, reason]);
    expect(reasons[0]).toBe(reason);
  });

  it('hands on that the client has given up', async () => {
    const exchange = new FakeExchange('tools/call');
    const answer = chainOf([timeout(1000)], workFor)(exchange);
    const failed = expect(answer).rejects.toMatchObject({ code: 'CANCELLED' });
    await settled();
    exchange.controller.abort();
    await failed;
  });

  it('leaves waiting for a task alone, and what it is not for', async () => {
    const clock = new FakeClock();
    const call = chainOf([timeout({ ms: 1, only: ['slow*'], clock })], () => ({ waiting: clock.timers }));
    expect(await call('tasks/result', { taskId: 't' })).toEqual({ waiting: 0 });
    expect(await call('tools/call', { name: 'fast' })).toEqual({ waiting: 0 });
    expect(await call('tools/call', { name: 'slow-one' })).toEqual({ waiting: 1 });
  });

  it('gives every attempt of a retry outside it its own time', async () => {
    const clock = new FakeClock();
    const signals: AbortSignal[] = [];
    const steps = [retry({ clock, random: () => 0 }), timeout({ ms: 1000, clock })];
    const answer = chainOf(steps, (exchange) => {
      signals.push(exchange.signal);
      return signals.length === 1 ? workFor(exchange) : { aborted: exchange.signal.aborted };
    })('resources/read');
    await settled();
    await clock.advance(1000);
    await clock.advance(0);
    expect(await answer).toEqual({ aborted: false });
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  });
});
