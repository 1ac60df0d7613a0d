// Serves clients of a revision without sessions: what they may send, and how results, errors, questions and notifications are written. Each revision has
// one object for all its clients; what belongs to a request is in its exchange.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { Ask, LogEntry, Progress } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestMessage, WireError } from '../../../kernel/message.ts';
import { CALL_METHODS, CAPABILITY_BY_ASK } from '../../../kernel/methods.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Target } from '../../../kernel/target.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { cannotBeAsked, missingCapability } from '../ask.ts';
import { META, splitMeta } from '../meta.ts';
import type { SplitParams } from '../meta.ts';
import type { MethodRegistry } from '../methods.ts';
import { writeLog, writeProgress } from '../notifications.ts';
import { plainError, toWire, withServerWords } from '../plain-error.ts';
import { isMissing, methodsOf } from '../revisions.ts';
import type { AskForm, ClientDialect, ErrorAnswer, NeutralRequest } from '../serve/client-dialect.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import type { ServedExchange } from '../serve/served-exchange.ts';
import { toFlowError } from './flow-extension.ts';
import { toDiscovery, toStatelessResult } from './results.ts';

/** What the dialect reads of a request. */
interface StatelessServed extends ServedExchange {
  readonly context: ServeContext;
  /** How often the call has asked so far. */
  readonly rounds: number;
}

export class StatelessClientDialect implements ClientDialect<StatelessServed> {
  readonly #methods: MethodRegistry;

  constructor(methods: MethodRegistry) {
    this.#methods = methods;
  }

  /** The params of a retry belong to the era, so no target sees them. */
  toNeutral(request: RequestMessage): NeutralRequest | undefined {
    if (isMissing(request.method, this.#methods)) return undefined;
    return { request, split: withoutRetry(request.method, splitMeta(request.params)) };
  }

  serve(exchange: StatelessServed, target: Target): unknown {
    const { method, context } = exchange;
    return method === 'server/discover' ? toDiscovery(target, exchange, context.revisions) : target.handle(exchange);
  }

  encode({ method, context }: StatelessServed, answer: ResultObject): ResultObject {
    return method === 'server/discover' ? answer : toStatelessResult(method, answer, context.target.info);
  }

  /** Cancelling a finished task succeeds: cancellation is cooperative (tasks extension). */
  toError(error: GatewayError | ProtocolError, exchange: StatelessServed): ErrorAnswer {
    if (isLateCancel(error, exchange)) return { result: {} };
    const answer = toStatelessError(error, exchange.id, false);
    const flow = 'error' in answer ? toFlowError(exchange.method, answer.error) : undefined;
    return flow ? { error: flow, status: 200 } : answer;
  }

  toProgress(progress: Progress, { progressToken }: StatelessServed): NotificationMessage | undefined {
    return progressToken === undefined ? undefined : writeProgress(progressToken, progress);
  }

  toLog(entry: LogEntry): NotificationMessage {
    return writeLog(entry);
  }

  canAsk(ask: Ask, exchange: StatelessServed): boolean {
    return this.whyNotAsked(ask, exchange) === undefined;
  }

  whyNotAsked(ask: Ask, { method, client, context, rounds }: StatelessServed): GatewayError | undefined {
    if (rounds >= context.limits.maxRounds)
      return new GatewayError('TOO_MANY', { what: 'rounds of questions in one call', limit: 'maxRounds' });
    if (!CALL_METHODS.has(method) || !(ask.method in CAPABILITY_BY_ASK)) return cannotBeAsked(ask, undefined);
    const missing = missingCapability(ask, client.capabilities);
    return missing && cannotBeAsked(ask, missing);
  }

  /** In this era, questions carry neither `elicitationId` nor a task: the state correlates them. */
  toAsk({ method, params, human }: Ask): AskForm {
    if (params === undefined) return { method };
    const { elicitationId, task, _meta, ...rest } = params;
    const { [META.relatedTask]: _task, ...own } = isObject(_meta) ? _meta : {};
    const meta = human ? { ...own, [META.human]: true } : own; // a gateway must not let a model answer it
    return { method, params: Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest };
  }
}

const dialects = new Map<string, StatelessClientDialect>();

export function statelessDialectOf(revision: string): StatelessClientDialect {
  let dialect = dialects.get(revision);
  if (!dialect) dialects.set(revision, (dialect = new StatelessClientDialect(methodsOf(revision))));
  return dialect;
}

function withoutRetry(method: string, split: SplitParams): SplitParams {
  const { params } = split;
  if (!CALL_METHODS.has(method) || !('inputResponses' in params || 'requestState' in params)) return split;
  const { inputResponses, requestState, ...rest } = params;
  return { ...split, params: rest };
}

function isLateCancel(error: GatewayError | ProtocolError, { method, params }: ServedExchange): boolean {
  if (method !== 'tasks/cancel' || typeof params.taskId !== 'string') return false;
  return error instanceof GatewayError && error.code === 'INVALID_PARAMS';
}

/** `atEdge` means that the target has not seen the request; then bad params are a bad HTTP request too. */
export function toStatelessError(
  error: GatewayError | ProtocolError,
  exchangeId: string,
  atEdge: boolean,
): { result: JsonObject } | { error: WireError; status: number } {
  if (error instanceof ProtocolError) return { error: plainError(error), status: 200 };
  const { code, details, row } = error;
  switch (code) {
    case 'INVALID_ARGUMENTS':
      return { result: { content: [{ type: 'text', text: error.message }], isError: true } };
    case 'RESOURCE_NOT_FOUND':
      return {
        error: withServerWords(error, toWire(-32602, error.message, { uri: details.uri }), 'stateless'),
        status: 200,
      };
    case 'UNSUPPORTED_VERSION':
      return { error: { ...plainError(error), code: -32022 }, status: 400 };
    case 'TASK_REQUIRED':
      return { error: toWire(-32021, error.message, tasksRequired()), status: 400 };
    case 'INVALID_PARAMS':
      return { error: plainError(error), status: atEdge ? 400 : 200 };
    default:
      // Clients read an error only from the body of a 200; a 5xx status would hide it.
      return {
        error: withServerWords(error, plainError(error, exchangeId), 'stateless'),
        status: row.fault === 'client' ? row.status : 200,
      };
  }
}

export function tasksRequired(): JsonObject {
  return { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
}
