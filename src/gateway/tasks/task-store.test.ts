import { checkOwnedThings } from '../../shared/containers/owned-table.contract.ts';
import { FakeClock } from '../dialect/fake-context.contract.ts';
import { TaskStore } from './task-store.ts';

checkOwnedThings(
  'tasks',
  () => {
    const clock = new FakeClock();
    const expired: string[] = [];
    const store = new TaskStore({
      clock,
      limits: { maxTasks: 2, taskTtlMs: 1000 },
      tell: (change) => change.kind === 'task' && expired.push(change.task.taskId),
    });
    return {
      expired,
      add: (owner) => store.create(owner).id,
      has(taskId, owner) {
        try {
          return store.get(owner, taskId).id === taskId;
        } catch {
          return false; // TASK_NOT_FOUND
        }
      },
      expire: () => clock.advance(1000),
      close: () => store.clear(),
      timers: () => clock.timers,
    };
  },
  'owner',
);
