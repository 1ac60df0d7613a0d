import { expect, it } from 'vitest';
import { FakeClock } from '../../../mcp/eras/fake-context.contract.ts';
import { FirstCalls } from './first-calls.ts';

const clock = new FakeClock();
const [one, two, three] = [{}, {}, {}];

/** Whether the call may look for a place again. */
async function isCalled(turn: Promise<void> | undefined): Promise<boolean> {
  return Promise.race([turn!.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

it('one first call runs at a time, and the next ones look for a place again when it ends', async () => {
  const calls = new FirstCalls(clock);
  expect(calls.begin(one)).toBeUndefined();
  expect(calls.begin(one)).toBeUndefined();
  const turn = calls.begin(two);
  expect(await isCalled(turn)).toBe(false);
  calls.end(three); // which never began
  expect(await isCalled(turn)).toBe(false);
  calls.end(one);
  calls.end(one);
  expect(await isCalled(turn)).toBe(true);
  expect(calls.begin(two)).toBeUndefined();
});

it('first calls that wait look for a place again when the server asks, and keep waiting if they find none', async () => {
  const calls = new FirstCalls(clock);
  void calls.begin(one);
  const turn = calls.begin(two);
  calls.wake();
  expect(await isCalled(turn)).toBe(true);
  expect(await isCalled(calls.begin(two))).toBe(false);
});

it('a slow first call holds up another one once, and for two seconds at most', async () => {
  const calls = new FirstCalls(clock);
  void calls.begin(one);
  const turn = calls.begin(two);
  clock.advance(1900);
  expect(await isCalled(turn)).toBe(false);
  clock.advance(200);
  expect(await isCalled(turn)).toBe(true);
  expect(calls.begin(two)).toBeUndefined();
  calls.end(two); // the slow one is still the first
  expect(await isCalled(calls.begin(three))).toBe(false);
});
