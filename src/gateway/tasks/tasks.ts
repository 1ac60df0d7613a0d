// Handles calls that run as tasks: starts them, and answers the requests to poll, answer, cancel and fetch them. The dialects
// decide their wire format and which methods a client has.
import { RELATED_TASK_KEY } from '../../protocol/target.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import { isUnproven } from '../../protocol/form/human-marks.ts';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { MaybeTask } from './maybe-task.ts';
import { readObject, readOptionalString, readString, toInvalid } from '../../protocol/params.ts';
import { settleTask } from './settle-task.ts';
import { TaskChannel } from './task-channel.ts';
import type { TaskStore } from './task-store.ts';
import { waitForTask } from './task-wait.ts';
import type { Task } from './task.ts';

/** The work of a call; `say` reports its status to the client. */
export type TaskWork<T extends ResultObject = JsonObject> = (
  exchange: Exchange,
  say: (statusMessage: string) => void,
) => Promise<T>;

/** How long a call stays an ordinary one before it becomes a task, by default. */
const GRACE_MS = 100;

export interface TasksOptions {
  clock?: Clock | undefined;
  taskGraceMs?: number | undefined;
  /** Splits a list into pages; without it there is one page. */
  toPage?(tasks: readonly Task[], cursor: string | undefined): { items: Task[]; nextCursor?: string };
}

export class Tasks {
  readonly #store: TaskStore;
  readonly #options: TasksOptions;

  constructor(store: TaskStore, options: TasksOptions = {}) {
    this.#store = store;
    this.#options = options;
  }

  /** For a client that requested a task. */
  start(exchange: Exchange, work: TaskWork<ResultObject>): JsonObject {
    const task = this.#store.create(exchange.client.principal, { ttlMs: exchange.task?.ttl });
    const { exchange: own } = new TaskChannel(exchange, task);
    // Deferred, so that the client knows the task before its first notification.
    setImmediate(() => {
      if (!task.isOver)
        void settleTask(
          task,
          work(own, (message) => task.say(message)),
        );
    });
    return { task: task.state };
  }

  /** For a client that allows a task without requesting one. */
  maybeStart<T extends ResultObject>(
    exchange: Exchange,
    isRequired: boolean,
    work: TaskWork<T>,
  ): Promise<T | JsonObject> {
    const { clock = systemClock, taskGraceMs: graceMs = GRACE_MS } = this.#options;
    const { principal } = exchange.client;
    const hasRoom = () => this.#store.hasRoom(principal);
    const create = (statusMessage?: string) =>
      this.#store.create(principal, { ttlMs: exchange.task?.ttl, statusMessage });
    return new MaybeTask(exchange, { clock, graceMs, isRequired, hasRoom, create }).run(work);
  }

  get(exchange: Exchange): JsonObject {
    return { ...this.#find(exchange).state };
  }

  list(exchange: Exchange): JsonObject {
    const tasks = this.#store.list(exchange.client.principal);
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
    if (!this.#store.has(task)) throw new GatewayError('TASK_NOT_FOUND', { taskId: task.id });
    const { result, error } = task.state;
    if (error !== undefined) throw new ProtocolError(error.code, error.message, error.data);
    if (result === undefined) throw toInvalid('taskId', `Task is already ${task.status}`);
    const meta = { ...(result['_meta'] as JsonObject | undefined), [RELATED_TASK_KEY]: { taskId: task.id } };
    return { ...result, _meta: meta };
  }

  #find({ params, client }: Exchange): Task {
    return this.#store.get(client.principal, readString(params, 'taskId'));
  }
}
