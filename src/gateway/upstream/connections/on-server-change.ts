// Handles a notification that a server sends on its own: updates what the gateway knows of the server, and notifies clients.
import { hasEnded } from '../../../protocol/target.ts';
import type { Change } from '../../../protocol/target.ts';
import type { ToolFacts } from '../../../protocol/tool-facts.ts';
import type { ChangeListeners } from './change-listeners.ts';
import type { ElicitationCompletions } from '../questions/elicitation-completions.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { TaskBridge } from '../tasks/task-bridge.ts';
import type { TaskOwners } from '../tasks/task-owners.ts';
import type { ListChecks } from '../target-options.ts';
import type { Upstream } from '../upstream.ts';

export const CHANGEABLE_LISTS = ['tools', 'prompts', 'resources'] as const;

export interface ChangeContext {
  tools: ToolFacts;
  tasks: TaskBridge;
  taskOwners: TaskOwners;
  listeners: ChangeListeners;
  completions: ElicitationCompletions;
  definitions: ListChecks | undefined;
}

export function onServerChange(change: Change, connection: UpstreamConnection, context: ChangeContext): void {
  const { tools, tasks, taskOwners, listeners } = context;
  if (change.kind === 'tools') tools.outdate();
  if (change.kind === 'tools' || change.kind === 'prompts') context.definitions?.outdate(change.kind);
  if (change.kind === 'elicited') context.completions.complete(change.elicitationId);
  if (change.kind === 'task') {
    if (hasEnded(change.task)) {
      connection.subscriptions.forgetTask(change.task.taskId);
      connection.asks.endTask(change.task.taskId);
    }
    const owned = tasks.onTask(change.task, connection) ? undefined : taskOwners.address(change, connection);
    if (owned) listeners.tellAll(owned);
    return;
  }
  const { current } = connection.supervised;
  const isDirect = change.kind === 'resource' && !connection.isShared && current?.server.dialect === 'handshake';
  listeners.tell(connection, isDirect ? { ...change, isDirect } : change, current?.transport === 'stdio');
}

/** After a reconnection, tells clients about everything that may have changed meanwhile. */
export function catchUp(upstream: Upstream, connection: UpstreamConnection, context: ChangeContext): void {
  context.taskOwners.forget(connection);
  void upstream.resubscribe();
  for (const kind of CHANGEABLE_LISTS)
    if (upstream.server.capabilities[kind]) onServerChange({ kind }, connection, context);
  for (const uri of connection.uris) onServerChange({ kind: 'resource', uri }, connection, context);
}
