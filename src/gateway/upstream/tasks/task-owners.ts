// Whose the tasks of a server are that pass through, and on which connection they run. A server that many share tells of all of
// them, and two processes of one server may use the same names.
import type { ClientView } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/message.ts';
import { fieldOf } from '../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Change } from '../../../protocol/target.ts';
import type { UpstreamConnection } from '../connections/upstream-connection.ts';

/** The oldest are forgotten first: of them nobody is told any more, but they can still be asked for. */
const MAX_TASKS = 10_000;

export class TaskOwners {
  readonly #principals = new WeakMap<UpstreamConnection, Map<string, string>>();
  readonly #connections = new Map<string, UpstreamConnection>();

  /** Looks whether the result of a call is a task. */
  note(result: ResultObject, { principal }: ClientView, connection: UpstreamConnection): void {
    const task = fieldOf(result, 'task');
    if (!isObject(task)) return;
    const taskId = String(task.taskId);
    const principals = this.#principals.get(connection) ?? new Map<string, string>();
    this.#principals.set(connection, principals);
    remember(principals, taskId, principal);
    remember(this.#connections, keyOf(taskId, principal), connection);
  }

  /** The change with whom it is for; undefined when that is not known. */
  address(change: Extract<Change, { kind: 'task' }>, connection: UpstreamConnection): Change | undefined {
    const principal = this.#principals.get(connection)?.get(change.task.taskId);
    return principal === undefined ? undefined : { ...change, principal };
  }

  /** After the server was away: a new process may give new tasks the names of old ones, of which nobody is told any more. */
  forget(connection: UpstreamConnection): void {
    this.#principals.delete(connection);
  }

  /** The server has given this name to a task of somebody else, since it was started. */
  isForeign(taskId: unknown, { principal }: ClientView, connection: UpstreamConnection): boolean {
    const owner = this.#principals.get(connection)?.get(String(taskId));
    return owner !== undefined && owner !== principal;
  }

  /** Where a task of this client runs; undefined when that is not known. */
  connectionOf(taskId: unknown, { principal }: ClientView): UpstreamConnection | undefined {
    return typeof taskId === 'string' ? this.#connections.get(keyOf(taskId, principal)) : undefined;
  }
}

function keyOf(taskId: string, principal: string): string {
  return `${principal} ${taskId}`;
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_TASKS) map.delete(oldest!);
}
