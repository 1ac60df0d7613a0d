import { expect, it } from 'vitest';
import { checkOwnedThings } from '../../../../kernel/containers/owned-table.contract.ts';
import { FakeClock, settled } from '../../../../kernel/fake-exchange.contract.ts';
import { EmulatedSessions } from './emulated-sessions.ts';

checkOwnedThings('emulated sessions', () => {
  const clock = new FakeClock();
  const calls = new EmulatedSessions({ clock, limits: { maxParked: 2, parkedMs: 1000 } }, () => {});
  const expired: string[] = [];
  return {
    expired,
    add(owner, caller = owner) {
      const about = { tool: 't', principal: owner, caller, timeoutMs: 1000 };
      const ignored = { tell: () => {}, warn: () => {}, withdrawn: () => {} };
      const call = calls.begin({ ...about, ...ignored, expired: () => expired.push(call.options.id) });
      call.ask({ method: 'elicitation/create', params: { message: 'Sure?' } }).catch(() => {});
      return call.options.id;
    },
    has: (sessionId, owner) => calls.find({ sessionId }, owner)?.hasEnded === false,
    end: (sessionId, owner) => calls.find({ sessionId }, owner)?.complete({ success: true }, undefined),
    async expire() {
      await settled();
      await clock.advance(1000);
    },
    timers: () => clock.timers,
  };
});

it('emulated sessions report which ids are forgotten, so that others can drop them too', async () => {
  const clock = new FakeClock();
  const forgotten: string[] = [];
  const calls = new EmulatedSessions({ clock, limits: { maxParked: 1, parkedMs: 1000 } }, (id) => forgotten.push(id));
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
  const calls = new EmulatedSessions({ clock: new FakeClock(), limits: { maxParked: 1, parkedMs: 1000 } }, () => {});
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
