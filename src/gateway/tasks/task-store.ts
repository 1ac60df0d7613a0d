// Keeps tasks in memory, visible to their owners only. A task is kept until it expires, so that its result can be fetched. A
// foreign, expired or unknown task gives the same error.
import type { Change } from '../../protocol/target.ts';
import { ticksOf } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { Task } from './task.ts';

/** The longest possible timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

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
  readonly #owners = new Map<string, Map<string, Task>>();
  readonly #options: StoreOptions;
  #timer: { at: number; stop: () => void } | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  hasRoom(principal: string): boolean {
    const { maxTasks } = this.#options.limits;
    const isFull = () => (this.#owners.get(principal)?.size ?? 0) >= maxTasks;
    if (isFull()) this.#dropExpired();
    return !isFull();
  }

  create(principal: string, wanted: TaskWish = {}): Task {
    const { clock, limits, tell } = this.#options;
    if (!this.hasRoom(principal)) throw new GatewayError('TOO_MANY', { what: 'tasks', limit: 'maxTasks' });
    const { ttlMs: wantedMs = 0, statusMessage } = wanted;
    const task = new Task({
      principal,
      // A TTL of zero is ignored: the result could never be fetched.
      ttlMs: wantedMs > 0 ? Math.min(wantedMs, limits.taskTtlMs) : limits.taskTtlMs,
      statusMessage,
      clock,
      tell: ({ state }) => tell({ kind: 'task', task: state, principal }),
    });
    const owned = this.#owners.get(principal) ?? new Map<string, Task>();
    this.#owners.set(principal, owned.set(task.id, task));
    this.#setTimer(task.expiresAt);
    return task;
  }

  get(principal: string, taskId: string): Task {
    const task = this.#owners.get(principal)?.get(taskId);
    if (task !== undefined && this.#isExpired(task)) this.#drop(task);
    else if (task !== undefined) return task;
    throw new GatewayError('TASK_NOT_FOUND', { taskId });
  }

  has(task: Task): boolean {
    return this.#owners.get(task.principal)?.has(task.id) ?? false;
  }

  /** In order of creation. */
  list(principal: string): Task[] {
    return [...(this.#owners.get(principal)?.values() ?? [])].filter((task) => !this.#isExpired(task));
  }

  /** Cancels running tasks and forgets everything. */
  clear(): void {
    this.#timer?.stop();
    this.#timer = undefined;
    for (const owned of this.#owners.values()) for (const task of owned.values()) this.#drop(task);
  }

  #isExpired(task: Task): boolean {
    return task.expiresAt <= ticksOf(this.#options.clock);
  }

  /** Removed first, so that it is unknown when watchers learn of its end. */
  #drop(task: Task): void {
    const owned = this.#owners.get(task.principal);
    owned?.delete(task.id);
    if (owned?.size === 0) this.#owners.delete(task.principal);
    task.cancel();
  }

  #dropExpired(): void {
    const tasks = [...this.#owners.values()].flatMap((owned) => [...owned.values()]);
    for (const task of tasks) if (this.#isExpired(task)) this.#drop(task);
  }

  /** One timer for all tasks, set for the earliest expiry. */
  #setTimer(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.stop();
    const ms = Math.min(Math.max(at - ticksOf(this.#options.clock), 0), MAX_TIMER_MS);
    this.#timer = { at, stop: this.#options.clock.after(ms, () => this.#onTimer()) };
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#dropExpired();
    const times = [...this.#owners.values()].flatMap((owned) => [...owned.values()].map(({ expiresAt }) => expiresAt));
    if (times.length > 0) this.#setTimer(times.reduce((first, at) => Math.min(first, at)));
  }
}
