// Handles calls that run as tasks: starts them, and answers the requests to poll, answer, cancel and fetch them. The dialects
// decide their wire format and which methods a client has. Tasks are kept in memory, visible to their owners only, until they expire, so that
// results can be fetched. A foreign, expired or unknown task gives the same error.
import type { Exchange } from '../../kernel/exchange.ts';
import { isUnproven } from '../../kernel/form/human-marks.ts';
import { isObject, readObject, readOptionalString, readString, toInvalid } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { RELATED_TASK_KEY } from '../../kernel/target.ts';
import type { Change } from '../../kernel/target.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { MemoryOwnedTable } from '../../kernel/containers/owned-table.ts';
import type { OwnedTable } from '../../kernel/containers/owned-table.ts';
import { cancelledBy } from '../../kernel/base/cancelled-error.ts';
import { GatewayError, ProtocolError, toError } from '../../kernel/base/errors.ts';
import { MaybeTask, TaskChannel } from './task-channel.ts';
import { Task } from './task.ts';
import type { OpenAsk } from './task.ts';
import type { TaskWork } from './task-work.ts';

/** How long a call stays an ordinary one before it becomes a task, by default. */
const GRACE_MS = 100;

interface TasksOptions {
  clock: Clock;
  limits: { maxTasks: number; taskTtlMs: number };
  /** Reports every change of a task. */
  tell: (change: Change) => void;
  taskGraceMs?: number | undefined;
  /** Splits a list into pages; without it there is one page. */
  toPage?(tasks: readonly Task[], cursor: string | undefined): { items: Task[]; nextCursor?: string };
}

export class Tasks {
  readonly #tasks: OwnedTable<Task>;
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
    this.#tasks = new MemoryOwnedTable<Task>({
      clock: options.clock,
      max: options.limits.maxTasks,
      toFull: () => new GatewayError('TOO_MANY', { what: 'tasks', limit: 'maxTasks' }),
      onExpired: (task) => task.cancel(),
    });
  }

  /** For a client that requested a task. */
  start(exchange: Exchange, work: TaskWork<ResultObject>, ttlMs?: number): JsonObject {
    const task = this.#create(exchange, { ttlMs });
    const { exchange: own } = new TaskChannel(exchange, task);
    // Deferred, so that the client knows the task before its first notification.
    setImmediate(() => {
      if (!task.isOver) void task.settle(work(own, (message) => task.say(message)));
    });
    return { task: task.state };
  }

  /** For a client that allows a task without requesting one. */
  maybeStart<T extends ResultObject>(
    exchange: Exchange,
    { isRequired, ttlMs }: { isRequired: boolean; ttlMs?: number | undefined },
    work: TaskWork<T>,
  ): Promise<T | JsonObject> {
    const { clock, taskGraceMs: graceMs = GRACE_MS } = this.#options;
    const hasRoom = () => this.#tasks.hasRoom(exchange.client.principal);
    const create = (statusMessage?: string) => this.#create(exchange, { statusMessage, ttlMs });
    return new MaybeTask(exchange, { clock, graceMs, isRequired, hasRoom, create }).run(work);
  }

  get(exchange: Exchange): JsonObject {
    return { ...this.#find(exchange).state };
  }

  list(exchange: Exchange): JsonObject {
    const tasks = this.#tasks.of(exchange.client.principal);
    const cursor = readOptionalString(exchange.params, 'cursor');
    const { items, ...next } = this.#options.toPage?.(tasks, cursor) ?? { items: tasks };
    return { tasks: items.map(({ summary }) => summary), ...next };
  }

  update(exchange: Exchange): JsonObject {
    const task = this.#find(exchange);
    const answers = Object.entries(readObject(exchange.params, 'inputResponses'));
    for (const [key, answer] of answers) {
      if (!isObject(answer)) throw toInvalid(`inputResponses.${key}`, 'Must be an object');
      if (task.isForHuman(key) && isUnproven(exchange)) throw new GatewayError('NO_PERSON');
    }
    for (const [key, answer] of answers) task.answer(key, answer as JsonObject);
    return {};
  }

  cancel(exchange: Exchange): JsonObject {
    const task = this.#find(exchange);
    if (task.isOver) throw toInvalid('taskId', `Task is already ${task.status}`);
    task.cancel();
    return { ...task.state };
  }

  async result(exchange: Exchange): Promise<JsonObject> {
    const task = this.#find(exchange);
    await waitForTask(task, exchange);
    if (this.#tasks.get(task.id, task.principal) !== task)
      throw new GatewayError('TASK_NOT_FOUND', { taskId: task.id });
    const { result, error } = task.state;
    if (error !== undefined) throw new ProtocolError(error.code, error.message, error.data);
    if (result === undefined) throw toInvalid('taskId', `Task is already ${task.status}`);
    return withRelatedTask(result, task);
  }

  /** Cancels running tasks and forgets everything. */
  clear(): void {
    this.#tasks.clear();
  }

  /** `ttlMs`: how long work of this kind may take. */
  #create(
    { client: { principal }, task: wanted }: Exchange,
    { statusMessage, ttlMs: ownMs = 0 }: { statusMessage?: string | undefined; ttlMs?: number | undefined },
  ): Task {
    const { clock, limits, tell } = this.#options;
    const { ttl: wantedMs = 0 } = wanted ?? {};
    const mostMs = Math.max(limits.taskTtlMs, ownMs);
    // A TTL of zero is ignored: the result could never be fetched.
    const ttlMs = wantedMs > 0 ? Math.min(wantedMs, mostMs) : mostMs;
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

  #find({ params, client }: Exchange): Task {
    const taskId = readString(params, 'taskId');
    const task = this.#tasks.get(taskId, client.principal);
    if (!task) throw new GatewayError('TASK_NOT_FOUND', { taskId });
    return task;
  }
}

/** Questions that a client is being asked. */
const taken = new WeakSet<OpenAsk>();

/**
 * Waits on an exchange for the end of a task, and asks its client the task's open questions. If several clients wait, each question goes to
 * one of them; if that client leaves, to the next. Rejects with CANCELLED if the exchange ends before the task.
 */
function waitForTask(task: Task, exchange: Exchange): Promise<void> {
  const { signal } = exchange;
  const mine = new Set<OpenAsk>();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      unwatch();
      signal.removeEventListener('abort', onAbort);
    };
    const giveUp = (error: Error): void => {
      stop();
      reject(error);
      for (const open of mine) taken.delete(open);
      mine.clear();
      task.wake();
    };
    const onAbort = (): void => giveUp(cancelledBy(signal));
    const forward = async (open: OpenAsk): Promise<void> => {
      taken.add(open);
      mine.add(open);
      try {
        const ask = { ...open.ask, key: open.key, params: withRelatedTask(open.ask.params, task) };
        task.answer(open.key, await exchange.ask(ask, AbortSignal.any([open.closed, signal])));
      } catch (thrown) {
        if (open.closed.aborted) return; // the question was withdrawn, or another client has answered it
        const error = toError(thrown);
        // The waiting client has left, which says nothing about the question.
        if (error.code === 'CANCELLED') giveUp(error);
        else task.refuse(open.key, error);
      }
    };
    const look = (): void => {
      for (const open of task.openAsks) if (!taken.has(open) && exchange.canAsk(open.ask)) void forward(open);
      if (!task.isOver) return;
      stop();
      resolve();
    };
    const unwatch = task.watch(look);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else look();
  });
}

/** For params and results. */
function withRelatedTask(body: JsonObject | undefined, { id: taskId }: Task): JsonObject {
  const meta = { ...(body?.['_meta'] as JsonObject | undefined), [RELATED_TASK_KEY]: { taskId } };
  return { ...body, _meta: meta };
}
