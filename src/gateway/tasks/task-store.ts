// Keeps tasks in memory, visible to their owners only. A task is kept until it expires, so that its result can be fetched. A
// foreign, expired or unknown task gives the same error.
import type { Change } from '../../protocol/target.ts';
import type { Clock } from '../../shared/clock.ts';
import { MemoryOwnedTable } from '../../shared/containers/owned-table.ts';
import type { OwnedTable } from '../../shared/containers/owned-table.ts';
import { GatewayError } from '../../shared/errors.ts';
import { Task } from './task.ts';

interface StoreOptions {
  clock: Clock;
  limits: { maxTasks: number; taskTtlMs: number };
  tell: (change: Change) => void;
}

interface TaskWish {
  ttlMs?: number | undefined;
  statusMessage?: string | undefined;
}

export class TaskStore {
  readonly #tasks: OwnedTable<Task>;
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#tasks = new MemoryOwnedTable<Task>({
      clock: options.clock,
      max: options.limits.maxTasks,
      toFull: () => new GatewayError('TOO_MANY', { what: 'tasks', limit: 'maxTasks' }),
      onExpired: (task) => task.cancel(),
    });
  }

  hasRoom(principal: string): boolean {
    return this.#tasks.hasRoom(principal);
  }

  create(principal: string, wanted: TaskWish = {}): Task {
    const { clock, limits, tell } = this.#options;
    const { ttlMs: wantedMs = 0, statusMessage } = wanted;
    // A TTL of zero is ignored: the result could never be fetched.
    const ttlMs = wantedMs > 0 ? Math.min(wantedMs, limits.taskTtlMs) : limits.taskTtlMs;
    const task = new Task({
      principal,
      ttlMs,
      statusMessage,
      clock,
      tell: ({ state }) => tell({ kind: 'task', task: state, principal }),
    });
    this.#tasks.add(task.id, task, { owner: principal, ms: ttlMs });
    return task;
  }

  get(principal: string, taskId: string): Task {
    const task = this.#tasks.get(taskId, principal);
    if (!task) throw new GatewayError('TASK_NOT_FOUND', { taskId });
    return task;
  }

  has(task: Task): boolean {
    return this.#tasks.get(task.id, task.principal) === task;
  }

  /** In order of creation. */
  list(principal: string): Task[] {
    return this.#tasks.of(principal);
  }

  /** Cancels running tasks and forgets everything. */
  clear(): void {
    this.#tasks.clear();
  }
}
