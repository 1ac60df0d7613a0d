// What one Parley says to the next, in `_meta`, about questions that only a person may answer.
import type { Exchange } from '../exchange.ts';
import { isInteraction } from '../interaction.ts';
import type { JsonObject } from '../message.ts';
import { isObject } from '../message.ts';

/** Of a question: only a person may answer it, and only after it was asked. */
export const HUMAN = 'mcp-parley/human';

/** Of a request about a task or a session: the client behind this one is not trusted. The mark only takes rights away, so anybody may set it. */
const UNPROVEN = 'mcp-parley/unproven';

/** Of a cancelled question: the client could not ask, because no person was present. It may be able to ask the next one. */
const UNASKED = 'mcp-parley/unasked';

/** The answer of a client without anybody who may answer. */
export const UNASKED_CANCEL = { action: 'cancel' as const, _meta: { [UNASKED]: true } };

export function isUnasked(answer: JsonObject): boolean {
  return answer.action === 'cancel' && isMarked(answer, UNASKED);
}

export function isMarkedHuman(params: JsonObject | undefined): boolean {
  return isMarked(params, HUMAN);
}

export function markHuman(params: JsonObject | undefined): JsonObject {
  return withMark(params, HUMAN);
}

/** Whether an answer in this request does not count as a person's. */
export function isUnproven({ client, params }: Pick<Exchange, 'client' | 'params'>): boolean {
  return client.isUnproven === true || saysUnproven(params);
}

export function saysUnproven(params: JsonObject): boolean {
  return isMarked(params, UNPROVEN);
}

/**
 * The params of `method`, sent to a server because of this request. Questions of a call, or of a task that we follow, come back to us. What a
 * client sends to a task or a session goes to the server, which must know whether a person can have said it.
 */
export function withProof(params: JsonObject, method: string, { client, method: said }: Exchange): JsonObject {
  if (client.isUnproven !== true || !(isInteraction(method) || said.startsWith('tasks/'))) return params;
  return withMark(params, UNPROVEN);
}

function isMarked(params: JsonObject | undefined, mark: string): boolean {
  return isObject(params?._meta) && params._meta[mark] === true;
}

function withMark(params: JsonObject | undefined, mark: string): JsonObject {
  const meta = isObject(params?._meta) ? params._meta : undefined;
  return { ...params, _meta: { ...meta, [mark]: true } };
}
