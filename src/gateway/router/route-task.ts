// Routes requests about tasks, and gives tasks public ids.
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import { fieldOf, toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { RELATED_TASK_KEY } from '../../kernel/target.ts';
import type { Change } from '../../kernel/target.ts';
import { CANCEL_TASK, LIST_TASKS } from '../../kernel/methods.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { joinMembers } from './catalogs.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';
import type { PublicIds } from './public-ids.ts';

/** Replaces the task id in the answer of a tool call. */
export function publishTask(exchange: Exchange, member: Member, ids: PublicIds, result: ResultObject): ResultObject {
  const task = fieldOf(result, 'task');
  if (!isObject(task)) return result;
  const { client, params, runGuard } = exchange;
  const begun = { tool: String(params.name), rules: runGuard?.rules };
  const taskId = ids.publish(member.name, task.taskId, client.principal, begun);
  runGuard?.began(taskId);
  return { ...toPlainObject(result), task: { ...task, taskId } };
}

export async function routeTask(exchange: Exchange, members: readonly Member[], ids: PublicIds): Promise<JsonObject> {
  if (exchange.method === LIST_TASKS) return listTasks(exchange, members, ids);
  const { taskId } = exchange.params;
  const opened = ids.open(taskId, exchange.client.principal);
  const member = opened && members.find(({ name }) => name === opened.server);
  if (!member) throw new GatewayError('TASK_NOT_FOUND', { taskId });
  if (exchange.method !== CANCEL_TASK) exchange.runGuard?.require({ ...opened, id: String(taskId) });
  const publish = (holder: JsonObject): JsonObject => withTaskId(holder, taskId);
  const own = deriveExchange(exchange, {
    params: { ...exchange.params, taskId: opened.id },
    channel: {
      ask: (ask, signal) => exchange.ask(ask.params ? { ...ask, params: publish(ask.params) } : ask, signal),
    },
  });
  try {
    return publish(toPlainObject(await handTo(member, own)));
  } catch (thrown) {
    const isUnknown = thrown instanceof GatewayError && thrown.code === 'TASK_NOT_FOUND';
    throw isUnknown ? new GatewayError('TASK_NOT_FOUND', { taskId }) : thrown;
  }
}

/** Replaces the server's task id in a result or a question. */
function withTaskId(holder: JsonObject, publicId: unknown): JsonObject {
  const { _meta: meta, taskId } = holder;
  const related = isObject(meta) && isObject(meta[RELATED_TASK_KEY]) ? meta[RELATED_TASK_KEY] : undefined;
  return {
    ...holder,
    ...(taskId !== undefined && { taskId: publicId }),
    ...(related && { _meta: { ...(meta as JsonObject), [RELATED_TASK_KEY]: { ...related, taskId: publicId } } }),
  };
}

/** A task notification with the client's id; undefined if no client owns the task. */
export function publishChange(
  change: Extract<Change, { kind: 'task' }>,
  member: Member,
  ids: PublicIds,
): Change | undefined {
  const taskId = ids.known(member.name, change.task.taskId, change.principal);
  return taskId === undefined ? undefined : { ...change, task: { ...change.task, taskId } };
}

/** A shared server lists everyone's tasks: only those issued to this client are kept. */
async function listTasks(exchange: Exchange, members: readonly Member[], ids: PublicIds): Promise<JsonObject> {
  const able = members.filter(({ target }) => target.capabilities(exchange.client).tasks);
  if (able.length === 0) throw new GatewayError('METHOD_NOT_FOUND', { method: exchange.method });
  const lists = await Promise.all(
    able.map(async (member) => {
      const { tasks, nextCursor, ...more } = toPlainObject(await handTo(member, exchange));
      return { member, known: Array.isArray(tasks) ? (tasks as JsonObject[]) : [], nextCursor, more };
    }),
  );
  const tasks = lists.flatMap(({ member, known }) =>
    known.flatMap((task) => {
      const taskId = ids.known(member.name, task.taskId, exchange.client.principal);
      return taskId === undefined ? [] : [{ ...task, taskId }];
    }),
  );
  const nextCursor = lists.length === 1 ? lists[0]!.nextCursor : undefined;
  return { ...joinMembers(lists.map(({ more }) => more)), tasks, ...(nextCursor !== undefined && { nextCursor }) };
}
