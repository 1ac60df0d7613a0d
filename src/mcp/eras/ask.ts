// Questions, as all eras have them: how they are read from the wire and answered there, and which capability of the client each one needs.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask } from '../../kernel/exchange.ts';
import { isObject, toErrorMessage, toResult } from '../../kernel/message.ts';
import type {
  JsonObject,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
  WireError,
} from '../../kernel/message.ts';
import type { ServerEvents } from '../../kernel/server-view.ts';
import { GatewayError, ProtocolError, toError } from '../../kernel/base/errors.ts';
import { META, toProgressToken } from './meta.ts';
import { writeProgress } from './notifications.ts';
import { plainError, toWire } from './plain-error.ts';

/** Converts a question from the wire to the neutral form. */
export function readAsk(method: string, params: JsonObject | undefined): Ask {
  if (!params) return { method };
  const { _meta, ...rest } = params;
  const { [META.key]: key, [META.human]: human, progressToken: _token, ...meta } = isObject(_meta) ? _meta : {};
  return {
    method,
    params: {
      ...rest,
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    },
    // Clients that store questions in an object would lose this key.
    ...(typeof key === 'string' && key !== '__proto__' && { key }),
    ...(human === true && { human }),
  };
}

/** The capability that the client lacks for this question; undefined if it lacks none. */
export function missingCapability(ask: Ask, declared: ClientCapabilities): ClientCapabilities | undefined {
  switch (ask.method) {
    case 'elicitation/create':
      return missingElicitation(ask, declared);
    case 'sampling/createMessage':
      return missingSampling(ask, declared);
    case 'roots/list':
      return declared.roots ? undefined : { roots: {} };
    default:
      return undefined;
  }
}

/** `elicitation: {}` means forms only. */
function missingElicitation(ask: Ask, { elicitation }: ClientCapabilities): ClientCapabilities | undefined {
  if (ask.params?.mode === 'url') return elicitation?.url ? undefined : { elicitation: { url: {} } };
  if (ask.page) return { elicitation: { url: {} } };
  const form = elicitation && (elicitation.form !== undefined || elicitation.url === undefined);
  return form ? undefined : { elicitation: { form: {} } };
}

function missingSampling(ask: Ask, { sampling }: ClientCapabilities): ClientCapabilities | undefined {
  const withTools = ask.params?.tools !== undefined || ask.params?.toolChoice !== undefined;
  if (!sampling) return { sampling: withTools ? { tools: {} } : {} };
  return withTools && !sampling.tools ? { sampling: { tools: {} } } : undefined;
}

export function cannotBeAsked(ask: Ask, required: ClientCapabilities | undefined): GatewayError {
  return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method, requiredCapabilities: required ?? {} });
}

/**
 * Answers a request from a server: passes the question on and encodes the answer. `tell` sends the client's progress to the server, if the server
 * asked for it.
 */
export async function answerAsk(
  request: RequestMessage,
  events: Pick<ServerEvents, 'onAsk' | 'onPing'>,
  signal: AbortSignal,
  tell?: (notification: NotificationMessage) => void,
): Promise<ResponseMessage> {
  if (request.method === 'ping' && !events.onPing) return toResult(request.id, {});
  try {
    const ask = readAsk(request.method, request.params);
    const meta = request.params?._meta;
    const token = toProgressToken(isObject(meta) ? meta.progressToken : undefined);
    if (tell && token !== undefined) ask.onProgress = (progress) => tell(writeProgress(token, progress));
    const answer = request.method === 'ping' ? events.onPing!(ask, signal) : events.onAsk(ask, signal);
    return checkWritable(toResult(request.id, await answer));
  } catch (thrown) {
    return toErrorMessage(request.id, toWritable(refusal(thrown, request.method)));
  }
}

/** An answer that is not JSON, such as one with a BigInt, would never be sent, and its server would wait for it. */
function checkWritable<T>(answer: T): T {
  JSON.stringify(answer);
  return answer;
}

/** The data of an error that the client's own code has thrown may not be JSON. */
function toWritable(error: WireError): WireError {
  try {
    return checkWritable(error);
  } catch {
    return { code: error.code, message: error.message };
  }
}

/** The specification's examples use -1 for a user who declined. */
function refusal(thrown: unknown, method: string) {
  const error = toError(thrown);
  if (!(error instanceof GatewayError)) return plainError(error);
  const { origin } = error.details;
  if (origin instanceof ProtocolError) return plainError(origin); // the client's own error
  if (error.code === 'NOT_APPROVED' || error.code === 'ASK_REFUSED') return toWire(-1, error.message);
  if (error.code === 'CLIENT_CANNOT_BE_ASKED')
    return toWire(-32601, `Method not found: the client cannot be asked (${method})`, `Not supported: ${method}`);
  return plainError(error);
}
