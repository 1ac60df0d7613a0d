// The task and the result of a flow of days last as long as the flow may.
import { afterEach, expect, it } from 'vitest';
import { createServer } from '../../sdk/server/create-server.ts';
import { createLog } from '../../kernel/base/log.ts';
import { connect } from '../../sdk/client/connect.ts';
import { memoryPair } from '../../testing/memory-pair.ts';
import { until } from '../../../tests/helpers/until.ts';
import { flow } from '../define.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { serveFlows } from './serve-flows.ts';

const DAY = 86_400_000;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function served(duration: '30d' | undefined) {
  const clock = manualClock();
  const log = createLog({ level: 'silent' });
  const store = memoryStore({ clock });
  const server = createServer({ name: 'hr', version: '1', log, clock });
  const onboarding = flow(
    { name: 'onboarding', long: true, ...(duration && { limits: { duration } }) },
    async (ask) => {
      await ask.event('signed');
      return 'welcome';
    },
  );
  const sessions = serveFlows(server, [onboarding], { store, clock });
  const [ours, theirs] = memoryPair();
  await server.connect(theirs);
  const client = await connect(ours, { revision: '2025-11-25', log });
  closing.push(
    () => server.close(),
    () => client.close(),
  );
  return { clock, sessions, client, store };
}

type Task = { taskId: string; ttlMs: number; status: string };

it.each([
  ['what the client asks for, within the duration of the flow', '30d', 40 * DAY, 40 * DAY],
  ['twice the duration of the flow: its work, and its result', '30d', 90 * DAY, 60 * DAY],
  ['an hour and the time of a result, without a duration', undefined, 90 * DAY, 3_600_000 + 300_000],
] as const)('a task lives %s', async (_, duration, ttl, expected) => {
  const { client } = await served(duration);
  const { task } = (await client.request('tools/call', { name: 'onboarding', task: { ttl } })) as { task: Task };
  expect(task.ttlMs).toBe(expected);
});

it('a task is there after days, and so is its result after more of them', async () => {
  const { client, clock, sessions, store } = await served('30d');
  const { task } = (await client.request('tools/call', { name: 'onboarding', task: {} })) as { task: Task };
  const now = async () => (await client.request('tasks/get', { taskId: task.taskId })) as unknown as Task;
  const session = await until('its session', async () => {
    for await (const page of store.browse!()) return page[0]?.header;
    return undefined;
  });
  clock.move(20 * DAY);
  expect((await now()).status).toBe('working');
  await sessions.deliver({ sessionId: session.id, event: 'signed', value: true });
  await until('its end', async () => (await now()).status === 'completed');
  clock.move(25 * DAY);
  expect((await now()).status).toBe('completed');
  expect((await store.load(session.id))?.header.state).toBe('completed');
});
