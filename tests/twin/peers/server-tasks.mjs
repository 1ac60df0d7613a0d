// Tasks of the raw server: those of 2025-11-25, and those of the extension in 2026-07-28.
import { META } from '../revisions.mjs';

const EXTENSION = `${META}tasks`;
const MADE = '2026-01-01T00:00:00Z';

export class ServerTasks {
  #tasks = new Map();

  constructor(era) {
    this.era = era;
  }

  get capabilities() {
    if (this.era === 'stateless') return { extensions: { [EXTENSION]: {} } };
    return { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
  }

  /** Whether a call asks to be one. */
  wants({ method, params }) {
    if (method !== 'tools/call') return false;
    if (this.era !== 'stateless') return params?.task !== undefined;
    return params?._meta?.[`${META}clientCapabilities`]?.extensions?.[EXTENSION] !== undefined;
  }

  /** The first answer of a call that goes on as a task; `finish` is called with its result. */
  begin() {
    const task = { id: `task-${this.#tasks.size + 1}`, status: 'working', waiting: [] };
    this.#tasks.set(task.id, task);
    const finish = (result) => {
      if (task.status === 'working') Object.assign(task, { status: 'completed', result });
      for (const tell of task.waiting.splice(0)) tell();
    };
    return {
      first: this.era === 'stateless' ? { resultType: 'task', ...this.#show(task) } : { task: this.#show(task) },
      finish,
    };
  }

  /** The answer to `tasks/…`, when there is one. */
  async answer({ method, params }) {
    if (method === 'tasks/list')
      return { result: { tasks: [...this.#tasks.values()].map((task) => this.#show(task)) } };
    const task = this.#tasks.get(params.taskId);
    if (!task) return { error: { code: -32602, message: 'no such task' } };
    if (method === 'tasks/cancel') task.status = 'cancelled';
    if (method === 'tasks/result' && task.status === 'working')
      await new Promise((resolve) => task.waiting.push(resolve));
    if (method === 'tasks/result') {
      const related = { [`${META}related-task`]: { taskId: task.id } };
      return { result: { ...task.result, _meta: { ...task.result._meta, ...related } } };
    }
    if (this.era !== 'stateless') return { result: this.#show(task) };
    if (method === 'tasks/cancel') return { result: {} };
    return {
      result: { ...this.#show(task), ...(task.result && { result: { resultType: 'complete', ...task.result } }) },
    };
  }

  #show({ id, status }) {
    const shared = { taskId: id, status, createdAt: MADE, lastUpdatedAt: MADE };
    return this.era === 'stateless'
      ? { ...shared, ttlMs: 60_000, pollIntervalMs: 50 }
      : { ...shared, ttl: 60_000, pollInterval: 50 };
  }
}
