import { expect, test } from 'vitest';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { InternalExchange } from '../../../protocol/internal-exchange.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { ConnectionLeases } from './connection-leases.ts';
import { ConnectionUsers } from './upstream-connection.ts';
import { TaskOwners } from '../tasks/task-owners.ts';

/** One connection, and what was reported about it. */
function setUp(relay: (call: { params: JsonObject }) => Promise<ResultObject>) {
  const told: string[] = [];
  const current = { transport: 'streamable-http', server: { dialect: 'handshake' }, relay };
  const connection = {
    supervised: { current, take: () => {}, giveBack: () => told.push('released') },
    asks: { held: { isEmpty: true } },
    users: new ConnectionUsers(),
    isShared: false,
  };
  const connections = { homeOf: () => connection, giveBack: () => {} } as unknown as ConnectionPool;
  const clientOf = (principal: string) =>
    ({ dialect: 'handshake', capabilities: {}, principal }) as unknown as ClientView;
  const taskOwners = new TaskOwners();
  const leases = new ConnectionLeases(connections, { clock: systemClock, timeoutMs: undefined, taskOwners });
  return {
    told,
    send: (method = 'tools/call', params: JsonObject = { name: 'a' }, principal = 'p') =>
      leases.send(new InternalExchange(method, params, clientOf(principal))),
    restart: () => taskOwners.forget(connection as unknown as UpstreamConnection),
  };
}

test('a connection is released when the call has its answer', async () => {
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

test("after a restart, an old task whose id another user's task reuses is unknown", async () => {
  const { send, restart } = setUp(async () => ({ task: { taskId: 'task-1' } }));
  await send('tools/call', { name: 'a' }, 'alice');
  expect(await send('tasks/get', { taskId: 'task-1' }, 'alice')).toBeDefined();
  restart();
  await send('tools/call', { name: 'a' }, 'bob');
  await expect(send('tasks/get', { taskId: 'task-1' }, 'alice')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  expect(await send('tasks/get', { taskId: 'task-1' }, 'bob')).toBeDefined();
});
