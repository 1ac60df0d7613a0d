import { describe, expect, it } from 'vitest';
import type { Ask } from '../../protocol/exchange.ts';
import { FakeClock, settled } from '../dialect/fake-context.contract.ts';
import { coalesce } from './questions/coalesce.ts';
import { delayAbort } from './tasks/delayed-abort.ts';

describe('questions that follow each other closely', () => {
  it('questions that arrive close together are asked together', async () => {
    const clock = new FakeClock();
    const put: Ask[][] = [[]];
    const ask = coalesce(async (question) => {
      put.at(-1)!.push(question);
      return { answered: question.key };
    }, clock);
    const first = [ask({ method: 'm', key: 'a' }), ask({ method: 'm', key: 'b' })];
    await settled();
    expect(put).toEqual([[]]);
    clock.advance(40);
    expect(await Promise.all(first)).toEqual([{ answered: 'a' }, { answered: 'b' }]);
    put.push([]);
    const second = ask({ method: 'm', key: 'c' });
    clock.advance(40);
    await second;
    expect(put.map((round) => round.map(({ key }) => key))).toEqual([['a', 'b'], ['c']]);
  });
});

describe('calling off a call that may create a task', () => {
  it('a cancellation is delayed so that the server can report the task id', () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { signal } = delayAbort(controller.signal, clock);
    controller.abort();
    expect(signal.aborted).toBe(false);
    clock.advance(1000);
    expect(signal.aborted).toBe(true);
  });

  it('no timer or listener is left when the call is over', () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { signal, end } = delayAbort(controller.signal, clock);
    controller.abort();
    end();
    expect(clock.timers).toBe(0);
    clock.advance(1000);
    expect(signal.aborted).toBe(false);
  });

  it('the delay counts from the start if the signal was already aborted', () => {
    const clock = new FakeClock();
    const { signal } = delayAbort(AbortSignal.abort(), clock);
    expect(clock.timers).toBe(1);
    clock.advance(1000);
    expect(signal.aborted).toBe(true);
  });
});
