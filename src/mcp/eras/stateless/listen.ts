// `subscriptions/listen`: a long answer that reports the changes a client asked for, each marked with the request id.
// It begins with an acknowledgement of the accepted filter; nothing else is ever sent.
import { callerOfClient } from '../../../kernel/exchange.ts';
import { MISSING, isObject, toInvalid, toNotification, toResult } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { Change } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import { isWithin } from '../notifications.ts';
import { META } from '../meta.ts';
import type { RunningRequest } from '../serve/running-request.ts';
import { stamp } from './results.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

const LISTS = ['tools', 'prompts', 'resources'] as const;

interface Filter {
  /** The lists whose changes are reported. */
  lists: (typeof LISTS)[number][];
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

function readFilter(notifications: unknown): Filter {
  if (!isObject(notifications)) throw toInvalid('notifications', MISSING);
  return {
    lists: LISTS.filter((kind) => notifications[`${kind}ListChanged`] === true),
    resourceSubscriptions: strings(notifications, 'resourceSubscriptions'),
    taskIds: strings(notifications, 'taskIds'),
  };
}

function strings(notifications: JsonObject, name: string): string[] {
  const list = notifications[name] ?? [];
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw toInvalid(`notifications.${name}`, 'Must be an array of strings');
}

/** The acknowledged filter: what was wanted and the target offers. */
function honoured(context: ServeContext, { client, task }: StatelessExchange, wanted: Filter): Filter {
  const capabilities = context.target.capabilities(client);
  if (wanted.taskIds.length > 0 && !task) throw new GatewayError('TASK_REQUIRED', { tool: 'subscriptions/listen' });
  return {
    lists: wanted.lists.filter((kind) => capabilities[kind]?.listChanged === true),
    resourceSubscriptions: capabilities.resources?.subscribe ? wanted.resourceSubscriptions : [],
    taskIds: wanted.taskIds,
  };
}

/** As the client wrote it, without what is empty. */
function named({ lists, resourceSubscriptions, taskIds }: Filter): JsonObject {
  return {
    ...Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true])),
    ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
    ...(taskIds.length > 0 && { taskIds }),
  };
}

function toListened(change: Change, filter: Filter, principal: string): NotificationMessage | undefined {
  switch (change.kind) {
    case 'tools':
    case 'prompts':
    case 'resources':
      if (!filter.lists.includes(change.kind)) return undefined;
      return toNotification(`notifications/${change.kind}/list_changed`, change.more);
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

/** Reduces the filter to what the server accepted; undefined if no server has to be asked. */
function wishFor(
  { target }: ServeContext,
  { client }: StatelessExchange,
  filter: Filter,
): Promise<unknown> | undefined {
  const wishes: Promise<void>[] = [];
  const wish = (kind: 'resourceSubscriptions' | 'taskIds', ask: (id: string) => Promise<void>): void => {
    const refuse = (id: string): void => void (filter[kind] = filter[kind].filter((one) => one !== id));
    for (const id of filter[kind]) wishes.push(ask(id).catch(() => refuse(id)));
  };
  if (target.subscribe) wish('resourceSubscriptions', (uri) => target.subscribe!(uri, client));
  if (target.followTask) wish('taskIds', (taskId) => target.followTask!(taskId, client));
  return wishes.length > 0 ? Promise.all(wishes) : undefined;
}
