import { expect, test } from 'vitest';
import type { ClientView } from '../../protocol/exchange.ts';
import { QuietExchange } from '../../protocol/quiet-exchange.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Connections } from './connections.ts';
import { Lender } from './lender.ts';
import { Users } from './pool/users.ts';
import { TaskOwners } from './task-owners.ts';

/** One connection, and what is told of it. */
function setUp(relay: () => Promise<ResultObject>) {
  const told: string[] = [];
  const current = { transport: 'streamable-http', server: { dialect: 'handshake' }, relay };
  const connection = {
    supervised: { current, take: () => {}, giveBack: () => told.push('released') },
    asks: { held: { isEmpty: true } },
    users: new Users(),
    isShared: false,
  };
  const connections = { homeOf: () => connection, giveBack: () => {} } as unknown as Connections;
  const client = { dialect: 'handshake', capabilities: {}, principal: 'p' } as unknown as ClientView;
  const lender = new Lender(connections, { clock: systemClock, timeoutMs: undefined, taskOwners: new TaskOwners() });
  return { told, send: () => lender.send(new QuietExchange('tools/call', { name: 'a' }, client)) };
}

test('a connection is given back when the call has its answer', async () => {
  const { told, send } = setUp(async () => ({ content: [] }));
  expect(await send()).toEqual({ content: [] });
  expect(told).toEqual(['released']);
});

test.each([
  [
    'at once',
    () => {
      throw new TypeError('no name');
    },
  ],
  ['later', () => Promise.reject(new TypeError('no name'))],
])('and when sending fails %s', async (_, relay) => {
  const { told, send } = setUp(relay);
  await expect(send()).rejects.toThrow('no name');
  expect(told).toEqual(['released']);
});
