// `subscriptions/listen`: a long answer that reports the changes a client asked for, each marked with the request id.
// It begins with an acknowledgement of the accepted filter; nothing else is ever sent.
import { callerOfClient } from '../../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage } from '../../../protocol/message.ts';
import { isObject, toNotification, toResult } from '../../../protocol/message.ts';
import type { Change } from '../../../protocol/target.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import { isWithin } from '../notifications.ts';
import { META } from '../meta.ts';
import type { RunningRequest } from './serve-stateless.ts';
import { stamp } from './results.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

interface Filter {
  toolsListChanged: boolean;
  promptsListChanged: boolean;
  resourcesListChanged: boolean;
  resourceSubscriptions: string[];
  taskIds: string[];
}

export function listen(context: ServeContext, exchange: StatelessExchange): RunningRequest {
  const wanted = readFilter(exchange.params.notifications);
  if (wanted.resourceSubscriptions.length + wanted.taskIds.length > context.limits.maxSubscriptions) {
    throw new GatewayError('TOO_MANY', { what: 'subscriptions', limit: 'maxSubscriptions' });
  }
  const id = exchange.request.id;
  const filter = honoured(context, exchange, wanted);
  const leave = context.listens.take(callerOfClient(exchange.client), () => close());
  if (!leave) throw new GatewayError('TOO_MANY', { what: 'listen streams', limit: 'maxListens' });
  const mark = (params: JsonObject = {}) => ({
    ...params,
    _meta: { ...(params._meta as JsonObject | undefined), [META.subscriptionId]: id },
  });
  let isAcknowledged = false;
  const acknowledge = (): void => {
    if (exchange.ended) return;
    isAcknowledged = true;
    exchange.outlet.send(
      toNotification('notifications/subscriptions/acknowledged', mark({ notifications: named(filter) })),
    );
  };
  const unwatch = context.target.watch(
    (change) => {
      const notification = isAcknowledged ? toListened(change, filter, exchange.client.principal) : undefined;
      if (notification) exchange.outlet.send({ ...notification, params: mark(notification.params) });
    },
    { client: exchange.client },
  );
  const subscribing = wishFor(context, exchange, filter);
  if (subscribing) void subscribing.then(acknowledge);
  else acknowledge();
  const stop = () => {
    unwatch();
    leave();
    exchange.end();
  };
  const close = () => {
    stop();
    const result = stamp({}, context.target.info);
    exchange.outlet.end(
      toResult(id, { ...result, _meta: { ...(result._meta as JsonObject), [META.subscriptionId]: id } }),
    );
  };
  return { endless: true, cancel: stop };
}

/** Reduces the filter to what the server accepted; undefined if no server has to be asked. */
function wishFor(
  { target }: ServeContext,
  { client }: StatelessExchange,
  filter: Filter,
): Promise<unknown> | undefined {
  const wishes: Promise<void>[] = [];
  const wish = (kind: 'resourceSubscriptions' | 'taskIds', put: (id: string) => Promise<void>): void => {
    const refuse = (id: string): void => void (filter[kind] = filter[kind].filter((one) => one !== id));
    for (const id of filter[kind]) wishes.push(put(id).catch(() => refuse(id)));
  };
  if (target.subscribe) wish('resourceSubscriptions', (uri) => target.subscribe!(uri, client));
  if (target.followTask) wish('taskIds', (taskId) => target.followTask!(taskId, client));
  return wishes.length > 0 ? Promise.all(wishes) : undefined;
}

function readFilter(notifications: unknown): Filter {
  if (!isObject(notifications)) {
    throw new GatewayError('INVALID_PARAMS', { parameter: 'notifications', error: 'Required parameter missing' });
  }
  return {
    toolsListChanged: notifications.toolsListChanged === true,
    promptsListChanged: notifications.promptsListChanged === true,
    resourcesListChanged: notifications.resourcesListChanged === true,
    resourceSubscriptions: strings(notifications, 'resourceSubscriptions'),
    taskIds: strings(notifications, 'taskIds'),
  };
}

function strings(notifications: JsonObject, name: string): string[] {
  const list = notifications[name] ?? [];
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw new GatewayError('INVALID_PARAMS', {
    parameter: `notifications.${name}`,
    error: 'Must be an array of strings',
  });
}

/** The acknowledged filter: what was wanted and the target offers. */
function honoured(context: ServeContext, { client, task }: StatelessExchange, wanted: Filter): Filter {
  const { tools, prompts, resources } = context.target.capabilities(client);
  if (wanted.taskIds.length > 0 && !task) throw new GatewayError('TASK_REQUIRED', { tool: 'subscriptions/listen' });
  return {
    toolsListChanged: wanted.toolsListChanged && tools?.listChanged === true,
    promptsListChanged: wanted.promptsListChanged && prompts?.listChanged === true,
    resourcesListChanged: wanted.resourcesListChanged && resources?.listChanged === true,
    resourceSubscriptions: resources?.subscribe ? wanted.resourceSubscriptions : [],
    taskIds: wanted.taskIds,
  };
}

function named(filter: Filter): JsonObject {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value)),
  );
}

function toListened(change: Change, filter: Filter, principal: string): NotificationMessage | undefined {
  switch (change.kind) {
    case 'tools':
      return filter.toolsListChanged ? toNotification('notifications/tools/list_changed', change.more) : undefined;
    case 'prompts':
      return filter.promptsListChanged ? toNotification('notifications/prompts/list_changed', change.more) : undefined;
    case 'resources':
      return filter.resourcesListChanged
        ? toNotification('notifications/resources/list_changed', change.more)
        : undefined;
    case 'resource':
      if (!filter.resourceSubscriptions.some((whole) => isWithin(change.uri, whole))) return undefined;
      return toNotification('notifications/resources/updated', { uri: change.uri, ...change.more });
    case 'task':
      if (change.principal !== principal || !filter.taskIds.includes(change.task.taskId)) return undefined;
      return toNotification('notifications/tasks', change.task as unknown as JsonObject);
    case 'log':
    case 'elicited':
    case 'notification':
      return undefined;
  }
}
