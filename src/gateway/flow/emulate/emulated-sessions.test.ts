import { expect, it } from 'vitest';
import { FakeClock } from '../../middleware/fake-exchange.contract.ts';
import { EmulatedSessions } from './emulated-sessions.ts';

it('emulated sessions report which ids are forgotten, so that others can drop them too', async () => {
  const clock = new FakeClock();
  const forgotten: string[] = [];
  const calls = new EmulatedSessions(clock, { maxParked: 1, parkedMs: 1000 }, (id) => forgotten.push(id));
  const call = calls.begin({
    tool: 't',
    principal: 'ada',
    caller: 'ada',
    timeoutMs: undefined,
    tell: () => {},
    warn: () => {},
    expired: () => {},
    withdrawn: () => {},
  });
  const { id: sessionId } = call.options;
  call.complete({ success: true }, undefined);
  expect([calls.find({ sessionId }, 'ada'), forgotten]).toEqual([call, []]);
  await clock.advance(60 * 60_000);
  expect([calls.find({ sessionId }, 'ada'), forgotten]).toEqual([undefined, [sessionId]]);
});

it('emulated sessions have a minimum timeout', () => {
  const calls = new EmulatedSessions(new FakeClock(), { maxParked: 1, parkedMs: 1000 }, () => {});
  const call = calls.begin({
    tool: 't',
    principal: 'ada',
    caller: 'ada',
    timeoutMs: 1e-9,
    tell: () => {},
    warn: () => {},
    expired: () => {},
    withdrawn: () => {},
  });
  expect(call.options.timeoutMs).toBeGreaterThanOrEqual(50);
});
