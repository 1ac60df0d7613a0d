import { expect, it } from 'vitest';
import type { ClientView } from '../../protocol/exchange.ts';
import { systemClock } from '../../shared/clock.ts';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import { HeldRounds } from './held-rounds.ts';

it('a client that goes away takes its own rounds with it, and who waits for them is told', async () => {
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
  const told = left.answered(new Promise(() => {}));
  rounds.leave(mine);
  await told;
  expect(expired).toEqual([mine]);
  expect(expired[0]).toBe(mine);
  expect(rounds.find(left.handle, 'ada')).toBeUndefined();
  expect(rounds.whyNot(left.handle, 'ada')).toMatchObject({ how: 'expired', isSent: true });
  expect(rounds.find(kept.handle, 'ada')).toBe(kept);
  rounds.close();
});

function clientOf(principal: string): ClientView {
  return {
    dialect: 'handshake',
    revision: '2025-11-25',
    info: { name: 'c', version: '1' },
    capabilities: {},
    principal,
  };
}
