// Determines whether clients and servers support tasks.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { isObject } from '../../../kernel/message.ts';
import type { ServerView } from '../../../kernel/server-view.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';

/** The server's capabilities, with the tasks that the gateway adds for clients of the other era. */
export function withTasksOf(server: ServerView): ServerCapabilities {
  const { capabilities, era } = server;
  if (!era.tasksByExtension || !runsTasks(server)) return capabilities;
  return { ...capabilities, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/** Whether the server can run tools as tasks. */
export function runsTasks({ era, capabilities }: Pick<ServerView, 'era' | 'capabilities'>): boolean {
  const { tasks, extensions } = capabilities as {
    tasks?: { requests?: { tools?: { call?: unknown } } };
    extensions?: JsonObject;
  };
  if (era.tasksByExtension) return isObject(extensions?.[TASKS_EXTENSION]);
  return era.tasksByCapability && tasks?.requests?.tools?.call !== undefined;
}

export function isCrossing(client: ClientView, server: ServerView): boolean {
  return client.era.tasksByExtension !== server.era.tasksByExtension;
}

/** Whether the server refuses the call because it requires tasks. */
export function needsTask(thrown: unknown): boolean {
  if (!(thrown instanceof ProtocolError) || thrown.code !== -32021 || !isObject(thrown.data)) return false;
  const { requiredCapabilities } = thrown.data;
  const { extensions } = isObject(requiredCapabilities) ? requiredCapabilities : {};
  return isObject(extensions) && TASKS_EXTENSION in extensions;
}
