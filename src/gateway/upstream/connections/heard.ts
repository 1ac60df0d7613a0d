// What a server tells without being asked: what it means for what is known of the server, and who else has to know.
import { hasEnded } from '../../../protocol/target.ts';
import type { Change } from '../../../protocol/target.ts';
import type { Audience } from './audience.ts';
import type { Completions } from '../questions/completions.ts';
import type { Connection } from './connection.ts';
import type { TaskBridge } from '../tasks/task-bridge.ts';
import type { TaskOwners } from '../tasks/task-owners.ts';
import type { ToolBook } from '../tool-book.ts';
import type { Upstream } from '../upstream.ts';

export const LISTS = ['tools', 'prompts', 'resources'] as const;

export interface Concerned {
  tools: ToolBook;
  tasks: TaskBridge;
  taskOwners: TaskOwners;
  audience: Audience;
  completions: Completions;
}

export function hear(change: Change, connection: Connection, concerned: Concerned): void {
  const { tools, tasks, taskOwners, audience } = concerned;
  if (change.kind === 'tools') tools.outdate();
  if (change.kind === 'elicited') concerned.completions.complete(change.elicitationId);
  if (change.kind === 'task') {
    if (hasEnded(change.task)) {
      connection.forgetTask(change.task.taskId);
      connection.asks.endTask(change.task.taskId);
    }
    const owned = tasks.onTask(change.task, connection) ? undefined : taskOwners.address(change, connection);
    if (owned) audience.tellAll(owned);
    return;
  }
  const { current } = connection.supervised;
  const isDirect = change.kind === 'resource' && !connection.isShared && current?.server.dialect === 'handshake';
  audience.tell(connection, isDirect ? { ...change, isDirect } : change, current?.transport === 'stdio');
}

/** What changed while the server was away was told to nobody. */
export function catchUp(upstream: Upstream, connection: Connection, concerned: Concerned): void {
  concerned.taskOwners.forget(connection);
  void connection.repeatTo(upstream);
  for (const kind of LISTS) if (upstream.server.capabilities[kind]) hear({ kind }, connection, concerned);
  for (const uri of connection.uris) hear({ kind: 'resource', uri }, connection, concerned);
}
