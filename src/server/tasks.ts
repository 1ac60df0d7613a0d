// Calls that run as tasks: started by a tool call, then asked after, answered, cancelled and fetched by their own
// methods. How a task is spelled, and which of the methods a client has, is the dialect's business.
import type { Exchange } from '../protocol/exchange.ts';
import { isObject } from '../protocol/message.ts';
import type { JsonObject, WireError } from '../protocol/message.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import { toError } from '../shared/to-error.ts';
import { toPage } from './page.ts';
import { readObject, readOptionalString, readString, toInvalid } from './params.ts';
import { TaskExchange } from './task-exchange.ts';
import type { TaskStore } from './task-store.ts';
import { RELATED_TASK, waitForEnd } from './task-wait.ts';
import type { Task } from './task.ts';

/** Does the work of the call on the task's own exchange. */
export type Work = (exchange: Exchange, say: (statusMessage: string) => void) => Promise<JsonObject>;

export class Tasks {
  readonly #store: TaskStore;
  readonly #pageSize: number | undefined;

  constructor(store: TaskStore, pageSize: number | undefined) {
    this.#store = store;
    this.#pageSize = pageSize;
  }

  start(exchange: Exchange, work: Work): JsonObject {
    const task = this.#store.create(exchange.client.principal, exchange.task?.ttl);
    const own = new TaskExchange(exchange, task);
    // Later, so that the client knows of the task before it is told what became of it.
    setImmediate(() => void run(task, () => work(own, (message) => task.say(message))));
    return { task: task.state };
  }

  get(exchange: Exchange): JsonObject {
    return { ...this.#find(exchange).state };
  }

  list(exchange: Exchange): JsonObject {
    const tasks = this.#store.list(exchange.client.principal);
    const page = toPage(tasks, readOptionalString(exchange.params, 'cursor'), this.#pageSize);
    const { items, ...next } = page;
    return { tasks: items.map(({ summary }) => summary), ...next };
  }

  update(exchange: Exchange): JsonObject {
    const task = this.#find(exchange);
    const answers = Object.entries(readObject(exchange.params, 'inputResponses'));
    for (const [key, answer] of answers) {
      if (!isObject(answer)) throw toInvalid(`inputResponses.${key}`, 'Must be an object');
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
    await waitForEnd(task, exchange);
    if (!this.#store.has(task)) throw new GatewayError('TASK_NOT_FOUND', { taskId: task.id });
    const { result, error } = task.state;
    if (error !== undefined) throw new ProtocolError(error.code, error.message, error.data);
    if (result === undefined) throw toInvalid('taskId', `Task is already ${task.status}`);
    const meta = { ...(result['_meta'] as JsonObject | undefined), [RELATED_TASK]: { taskId: task.id } };
    return { ...result, _meta: meta };
  }

  #find({ params, client }: Exchange): Task {
    return this.#store.get(client.principal, readString(params, 'taskId'));
  }
}

async function run(task: Task, work: () => Promise<JsonObject>): Promise<void> {
  if (task.isOver) return;
  try {
    task.complete(await work());
  } catch (thrown) {
    task.fail(toWireError(thrown));
  }
}

/** What was thrown may be fetched in any dialect, so it is kept in the words of the error table. */
function toWireError(thrown: unknown): WireError {
  const error = toError(thrown);
  if (error instanceof ProtocolError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  }
  const data = Object.keys(error.details).length > 0 ? { data: error.details } : {};
  return { code: error.row.code, message: error.message, ...data };
}
