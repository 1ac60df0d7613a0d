// What one Parley says to the next, in `_meta`, about questions that only a person may answer.
import type { Exchange } from '../exchange.ts';
import { isInteraction } from '../interaction.ts';
import type { JsonObject } from '../message.ts';
import { isObject } from '../message.ts';

/** Of a question: only a person may answer it, and only after it was asked. */
export const HUMAN = 'mcp-parley/human';

/** Of a request about a task or a session: nobody vouches for the client behind this one. It takes rights away, so everybody may say it. */
const UNPROVEN = 'mcp-parley/unproven';

/** Of a cancelled question: the client has asked nobody, because nobody is there. It could, for the next question. */
const UNASKED = 'mcp-parley/unasked';

/** The answer of a client at which nobody is who may answer. */
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

/** Whether an answer that comes with this request is not a person's word. */
export function isUnproven({ client, params }: Pick<Exchange, 'client' | 'params'>): boolean {
  return client.isUnproven === true || saysUnproven(params);
}

export function saysUnproven(params: JsonObject): boolean {
  return isMarked(params, UNPROVEN);
}

/**
 * The params of `method`, sent to a server because of this request. Questions of a call come back to us, and so do those of a task that we
 * follow; what a client says to a task or a session goes to the server, which has to know what it is worth.
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
