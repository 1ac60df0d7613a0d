// Remembers which client owns each upstream task, and on which connection it runs. A shared server reports everyone's tasks, and
// two processes of one server may use the same ids.
import type { ClientView } from '../../../kernel/exchange.ts';
import type { Change } from '../../../kernel/target.ts';
import type { UpstreamConnection } from '../connections/upstream-connection.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';

/** The oldest are forgotten first: their clients get no notifications, but can still poll. */
const MAX_TASKS = 10_000;

export class TaskOwners {
  readonly #principals = new WeakMap<UpstreamConnection, BoundedMap<string, string>>();
  readonly #connections = new BoundedMap<string, UpstreamConnection>(MAX_TASKS);

  /** Records the owner of a task that was started. */
  note(taskId: string, { principal }: ClientView, connection: UpstreamConnection): void {
    const principals = this.#principals.get(connection) ?? new BoundedMap<string, string>(MAX_TASKS);
    this.#principals.set(connection, principals);
    principals.set(taskId, principal);
    this.#connections.set(keyOf(taskId, principal), connection);
  }

  /** Adds the owner to a change; undefined if it is unknown. */
  address(change: Extract<Change, { kind: 'task' }>, connection: UpstreamConnection): Change | undefined {
    const principal = this.#principals.get(connection)?.get(change.task.taskId);
    return principal === undefined ? undefined : { ...change, principal };
  }

  /** Called after a reconnection: a new process may reuse the ids of old tasks. */
  forget(connection: UpstreamConnection): void {
    this.#principals.delete(connection);
  }

  /** Whether this id belongs to another principal's task on this connection. */
  isForeign(taskId: unknown, { principal }: ClientView, connection: UpstreamConnection): boolean {
    const owner = this.#principals.get(connection)?.get(String(taskId));
    return owner !== undefined && owner !== principal;
  }

  /** The connection on which a client's task runs; undefined if it is unknown. */
  connectionOf(taskId: unknown, { principal }: ClientView): UpstreamConnection | undefined {
    return typeof taskId === 'string' ? this.#connections.get(keyOf(taskId, principal)) : undefined;
  }
}

function keyOf(taskId: string, principal: string): string {
  return `${principal} ${taskId}`;
}
