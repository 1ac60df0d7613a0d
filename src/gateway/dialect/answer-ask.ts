// Answers a request that a server put to us: hands it to whoever answers questions, and spells what comes back.
import type { Ask } from '../../protocol/exchange.ts';
import { isInteraction } from '../../protocol/interaction.ts';
import type { JsonObject, RequestMessage, ResponseMessage } from '../../protocol/message.ts';
import { isObject, toErrorMessage, toResult } from '../../protocol/message.ts';
import type { ServerEvents } from '../../protocol/server-view.ts';
import { GatewayError } from '../../shared/errors.ts';
import { toError } from '../../shared/to-error.ts';
import { ASKABLE } from './ask.ts';
import { META } from './meta.ts';
import { plainError, toWire } from './plain-error.ts';

export async function answerAsk(
  request: RequestMessage,
  events: Pick<ServerEvents, 'onAsk'>,
  signal: AbortSignal,
): Promise<ResponseMessage> {
  if (request.method === 'ping') return toResult(request.id, {});
  try {
    const custom = !ASKABLE.has(request.method);
    if (custom && !isInteraction(request.method)) {
      throw new GatewayError('METHOD_NOT_FOUND', { method: request.method });
    }
    return toResult(request.id, await events.onAsk(toAsk(request.method, request.params), signal));
  } catch (thrown) {
    return toErrorMessage(request.id, refusal(thrown, request.method));
  }
}

/** A question as it came over the wire, in neutral words. */
export function toAsk(method: string, params: JsonObject | undefined): Ask {
  if (!params) return { method };
  const { _meta, ...rest } = params;
  const { [META.key]: key, [META.human]: human, [META.relatedTask]: relatedTask } = isObject(_meta) ? _meta : {};
  const elicits = method === 'elicitation/create' && rest.mode === undefined;
  return {
    method,
    params: {
      ...(elicits && { mode: 'form' }),
      ...rest,
      ...(relatedTask !== undefined && { _meta: { [META.relatedTask]: relatedTask } }),
    },
    ...(typeof key === 'string' && { key }),
    ...(human === true && { human }),
  };
}

/** -1 is what the specification's examples use for a user who said no. */
function refusal(thrown: unknown, method: string) {
  const error = toError(thrown);
  if (!(error instanceof GatewayError)) return plainError(error);
  if (error.code === 'NOT_APPROVED' || error.code === 'ASK_REFUSED') return toWire(-1, error.message);
  if (error.code === 'CLIENT_CANNOT_BE_ASKED')
    return toWire(-32601, `Method not found: the client cannot be asked (${method})`, `Not supported: ${method}`);
  return plainError(error);
}
