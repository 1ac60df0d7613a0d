// Ids of tasks: sealed with their server and bound to the principal, so that any node finds the server again and nobody else
// can use them.
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Sealer } from '../../shared/seal.ts';
import type { Catalogs } from './catalogs.ts';
import { handTo } from './member.ts';
import type { Member } from './member.ts';

const PURPOSE = 'task';

export function withSealedTask(
  { client }: Exchange,
  sealer: Sealer,
  { member, result }: { member: Member; result: JsonObject },
): JsonObject {
  if (!isObject(result.task)) return result;
  const taskId = sealer.seal(PURPOSE, client.principal, { server: member.name, taskId: result.task.taskId });
  return { ...result, task: { ...result.task, taskId } };
}

export async function routeTask(exchange: Exchange, catalogs: Catalogs, sealer: Sealer): Promise<JsonObject> {
  const { taskId } = exchange.params;
  const opened = typeof taskId === 'string' ? sealer.open(PURPOSE, exchange.client.principal, taskId) : undefined;
  const member = isObject(opened) ? catalogs.member(String(opened.server)) : undefined;
  if (!member || !isObject(opened)) throw new GatewayError('TASK_NOT_FOUND', { taskId });
  exchange.params = { ...exchange.params, taskId: opened.taskId };
  const result = await handTo(member, exchange);
  return 'taskId' in result ? { ...result, taskId } : result;
}
