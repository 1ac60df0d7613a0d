import { checkOwnedThings } from '../../kernel/containers/owned-table.contract.ts';
import { FakeExchange } from '../../sdk/server/fake-exchange.contract.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import { Tasks } from './tasks.ts';

checkOwnedThings(
  'tasks',
  () => {
    const clock = new FakeClock();
    const expired: string[] = [];
    const tasks = new Tasks({
      clock,
      limits: { maxTasks: 2, taskTtlMs: 1000 },
      tell: (change) => change.kind === 'task' && expired.push(change.task.taskId),
    });
    const by = (principal: string, params = {}) => new FakeExchange('', { params, client: { principal } });
    return {
      expired,
      add: (owner) => (tasks.start(by(owner), () => new Promise(() => {})) as { task: { taskId: string } }).task.taskId,
      has(taskId, owner) {
        try {
          return tasks.get(by(owner, { taskId })).taskId === taskId;
        } catch {
          return false; // TASK_NOT_FOUND
        }
      },
      expire: () => clock.advance(1000),
      close: () => tasks.clear(),
      timers: () => clock.timers,
    };
  },
  'owner',
);
