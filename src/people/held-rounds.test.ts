import { expect, it } from 'vitest';
import { SPEAKING } from '../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../kernel/exchange.ts';
import { systemClock } from '../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import { FakeClock } from '../kernel/fake-exchange.contract.ts';
import { checkOwnedThings } from '../kernel/containers/owned-table.contract.ts';
import { HeldRounds } from './held-rounds.ts';

checkOwnedThings(
  'held rounds',
  () => {
    const clock = new FakeClock();
    const rounds = new HeldRounds({ ...DEFAULT_LIMITS, maxParked: 2 }, clock);
    const expired: string[] = [];
    const about = { tool: 't', server: 's', client: 'c' };
    return {
      expired,
      add(owner) {
        const expire = ({ handle }: { handle: string }): void => void expired.push(handle);
        return rounds.open({ client: clientOf(owner), about, isSent: true, settle: () => {}, expire }, []).handle;
      },
      has: (handle, owner) => rounds.find(handle, owner)?.isOpen === true,
      end(handle, owner) {
        const round = rounds.find(handle, owner);
        if (round?.answer({}, 'relay')) rounds.collect(round);
      },
      expire: () => clock.advance(DEFAULT_LIMITS.parkedMs),
      close: () => rounds.close(),
      timers: () => (rounds.size === 0 ? 0 : clock.timers),
    };
  },
  'owner',
);

it('a client that leaves ends its rounds and wakes their waiters', async () => {
  const rounds = new HeldRounds(DEFAULT_LIMITS, systemClock);
  const [mine, theirs] = [clientOf('ada'), clientOf('ada')];
  const expired: ClientView[] = [];
  const open = (client: ClientView) =>
    rounds.open(
      {
        client,
        about: { tool: 't', server: 's', client: 'c' },
        isSent: true,
        settle: () => {},
        expire: () => void expired.push(client),
      },
      [],
    );
  const [left, kept] = [open(mine), open(theirs)];
  const told = left.answered();
  rounds.leave(mine);
  await told;
  expect(expired).toEqual([mine]);
  expect(expired[0]).toBe(mine);
  expect(rounds.find(left.handle, 'ada')).toBeUndefined();
  expect(rounds.whyNot(left.handle, 'ada')).toMatchObject({ how: 'expired', isSent: true });
  expect(rounds.find(kept.handle, 'ada')).toBe(kept);
  rounds.close();
});

it('a withdrawn question wakes its waiters, and its expiry does not cancel the call', async () => {
  const clock = new FakeClock();
  const rounds = new HeldRounds(DEFAULT_LIMITS, clock);
  const said: string[] = [];
  const round = rounds.open(
    {
      client: clientOf('ada'),
      about: { tool: 't', server: 's', client: 'c' },
      isSent: true,
      settle: () => void said.push('settled'),
      expire: () => void said.push('called off'),
    },
    [],
  );
  const told = round.answered();
  round.withdraw();
  await told;
  expect(round.answer({}, 'page')).toBe(false);
  expect(rounds.find(round.handle, 'ada')).toBe(round);
  await clock.advance(DEFAULT_LIMITS.parkedMs);
  expect(said).toEqual([]);
  expect([rounds.size, rounds.whyNot(round.handle, 'ada')?.how]).toEqual([0, 'expired']);
});

function clientOf(principal: string): ClientView {
  return {
    ...SPEAKING.handshake,
    revision: '2025-11-25',
    info: { name: 'c', version: '1' },
    capabilities: {},
    principal,
  };
}
