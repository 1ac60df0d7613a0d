// Whose the tasks of a server are that pass through: a server that many share tells of all of them.
import type { ClientView } from '../../protocol/exchange.ts';
import { isObject } from '../../protocol/message.ts';
import { fieldOf } from '../../protocol/raw-object.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import type { Change } from '../../protocol/target.ts';

/** The oldest are forgotten first: of them nobody is told any more, but they can still be asked for. */
const MAX_TASKS = 10_000;

export class TaskOwners {
  readonly #principals = new Map<string, string>();

  /** Looks whether the result of a call is a task. */
  note(result: ResultObject, { principal }: ClientView): ResultObject {
    const task = fieldOf(result, 'task');
    if (!isObject(task)) return result;
    this.#principals.set(String(task.taskId), principal);
    const [oldest] = this.#principals.keys();
    if (this.#principals.size > MAX_TASKS) this.#principals.delete(oldest!);
    return result;
  }

  /** The change with whom it is for; undefined when that is not known. */
  address(change: Extract<Change, { kind: 'task' }>): Change | undefined {
    const principal = this.#principals.get(change.task.taskId);
    return principal === undefined ? undefined : { ...change, principal };
  }
}
