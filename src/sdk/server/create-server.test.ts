import { expect, it } from 'vitest';
import type { TaskState } from '../../kernel/target.ts';
import { createServer } from './create-server.ts';
import { FakeClock, FakeExchange, answerOf } from './fake-exchange.contract.ts';

it('a server that is closed drops its tasks', async () => {
  const clock = new FakeClock();
  const server = createServer({ name: 'test', version: '1', clock });
  let signal: AbortSignal | undefined;
  server.tool('t', { task: 'optional' }, (_, call) => {
    ({ signal } = call);
    call.status('Working');
    return new Promise<never>(() => undefined);
  });
  const params = { name: 't' };
  const { task } = await answerOf(server, new FakeExchange('tools/call', { params, task: { requested: false } }));
  const { taskId } = task as TaskState;
  await server.close();
  expect(signal?.aborted).toBe(true);
  const asked = answerOf(server, new FakeExchange('tasks/get', { params: { taskId } }));
  await expect(asked).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  expect(clock.timers).toBe(0);
});

it('a server whose keys could be guessed is not made, and the error says how to make one', () => {
  expect(() => createServer({ name: 'test', version: '1', keys: ['short'] })).toThrow(
    'keys: each needs at least 16 characters; `openssl rand -base64 32` makes one',
  );
});
