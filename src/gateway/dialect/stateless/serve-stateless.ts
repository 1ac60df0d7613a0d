// Serves one stateless request. It checks headers, envelope, version, standard headers, capabilities and parameter
// headers, in this order, then calls the target. It keeps no memory of the client.
import type { ClientConnection } from '../../../protocol/exchange.ts';
import type { JsonObject, Message, RequestMessage, ResponseMessage } from '../../../protocol/message.ts';
import { isObject, toErrorMessage, toResult } from '../../../protocol/message.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import { readSuspended } from '../../../protocol/suspended-call.ts';
import type { SuspendedCall } from '../../../protocol/suspended-call.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { toError } from '../../../shared/to-error.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import { logFailure } from '../serve/log-failure.ts';
import { TASKS_EXTENSION, splitMeta } from '../meta.ts';
import type { Outlet } from '../serve/served-exchange.ts';
import { readEnvelope, toClient } from './envelope.ts';
import type { Envelope } from './envelope.ts';
import { tasksRequired, toStatelessError } from './errors.ts';
import { toFlowError } from './flow-extension.ts';
import { checkStandardHeaders, checkVersionHeader } from './headers.ts';
import type { Headers } from './headers.ts';
import { listen } from './listen.ts';
import { parkCall } from './parked-calls.ts';
import { checkParamHeaders } from './speak/param-headers.ts';
import { readAnswers, withoutRetry } from './retry.ts';
import { sealState } from './request-state.ts';
import { resume } from './resume.ts';
import { toDiscovery, toInputRequired, toStatelessResult } from './results.ts';
import { StatelessExchange } from './stateless-exchange.ts';

export interface StatelessCaller {
  principal: string;
  from?: ClientConnection | undefined;
  /** Present on HTTP; the body must match them. */
  headers?: Headers | undefined;
}

/** A request in flight, as its connection tracks it. */
export interface RunningRequest {
  /** A stream that does not end on its own. */
  readonly endless?: boolean;
  cancel(reason?: unknown): void;
}

/** Methods that this era has removed or never had. */
const REMOVED = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/result',
  'tasks/list',
  'tools/invoke',
  'shutdown',
]);
const TASK_METHODS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);

/** Whether the answer is a stream that does not end on its own. */
export function isEndless(message: Message): boolean {
  return 'method' in message && message.method === 'subscriptions/listen';
}

export function serveStateless(
  context: ServeContext,
  request: RequestMessage,
  outlet: Outlet,
  caller: StatelessCaller,
): RunningRequest | undefined {
  try {
    const exchange = admit(context, request, outlet, caller);
    if (isEndless(request)) return listen(context, exchange);
    if (request.params?.requestState !== undefined) return goOn(context, exchange);
    run(context, exchange);
    return exchange;
  } catch (thrown) {
    refuse(context, request, outlet, thrown);
    return undefined;
  }
}

function admit(
  context: ServeContext,
  request: RequestMessage,
  outlet: Outlet,
  { principal, from, headers }: StatelessCaller,
): StatelessExchange {
  if (headers) checkVersionHeader(headers, request);
  const envelope = readEnvelope(request, context.revisions);
  if (headers) checkStandardHeaders(headers, request);
  if (REMOVED.has(request.method)) throw new GatewayError('METHOD_NOT_FOUND', { method: request.method });
  const answers = readAnswers(request);
  const split = withoutRetry(request.method, splitMeta(request.params));
  const exchange = new StatelessExchange(request, split, toClient(envelope, principal, from), outlet);
  exchange.answers = answers;
  // A client may send answers to questions it expects.
  if (answers) exchange.resumed = { state: undefined, answers, server: undefined };
  exchange.logLevel = envelope.logLevel;
  exchange.task = taskOf(envelope);
  if (TASK_METHODS.has(request.method) && !exchange.task) {
    throw new ProtocolError(-32021, 'The tasks extension was not declared', tasksRequired());
  }
  if (headers && request.method === 'tools/call') checkParams(context, headers, exchange);
  return exchange;
}

/** A client that declares the tasks extension allows any call to become a task. */
function taskOf({ capabilities }: Envelope): { requested: boolean } | undefined {
  return isObject(capabilities.extensions?.[TASKS_EXTENSION]) ? { requested: false } : undefined;
}

function checkParams(context: ServeContext, headers: Headers, { params, client }: StatelessExchange): void {
  const schema = typeof params.name === 'string' ? context.target.inputSchema?.(params.name, client) : undefined;
  if (schema) checkParamHeaders(headers, schema, params.arguments);
}

function run(context: ServeContext, exchange: StatelessExchange): void {
  exchange.context = context;
  exchange.onAsked = park; // no closure: one per call makes half the young generation outlive its calls
  let result;
  try {
    result =
      exchange.method === 'server/discover'
        ? toDiscovery(context.target, exchange, context.revisions)
        : context.target.handle(exchange);
  } catch (thrown) {
    return fail(context, exchange, thrown);
  }
  if (!(result instanceof Promise)) return finish(context, exchange, result);
  result.then(
    (value) => finish(context, exchange, value),
    (thrown) => fail(context, exchange, thrown),
  );
}

function goOn(context: ServeContext, retry: StatelessExchange): RunningRequest | undefined {
  const resuming = resume(context, retry);
  if ('waited' in resuming) return resuming.waited;
  if ('lost' in resuming) finish(context, retry, resuming.lost);
  else run(context, resuming.again);
  return retry;
}

function park(exchange: StatelessExchange, questions: JsonObject): void {
  const context = exchange.context!;
  const { request, client, outlet } = exchange;
  let state: string;
  try {
    state = sealState(context.sealer, request, client.principal, { ticket: parkCall(exchange, context.parked) });
  } catch (thrown) {
    return exchange.refuseAsks(toError(thrown));
  }
  exchange.parked = true;
  outlet.end(toResult(request.id, toInputRequired(questions, state, { info: context.target.info })));
}

function finish(context: ServeContext, exchange: StatelessExchange, result: ResultObject): void {
  if (exchange.ended) return;
  if (exchange.cancelled) return close(exchange);
  const suspended = readSuspended(result);
  if (suspended) return suspend(context, exchange, suspended);
  let spelled: ResultObject;
  try {
    spelled =
      exchange.method === 'server/discover' ? result : toStatelessResult(exchange.method, result, context.target.info);
  } catch (thrown) {
    return fail(context, exchange, thrown); // the target's answer is not a result
  }
  if (exchange.parked) return exchange.hold(() => finish(context, exchange, result));
  close(exchange, toResult(exchange.request.id, spelled));
}

/** Keeps nothing in memory: the client carries what the call needs to continue. */
function suspend(context: ServeContext, exchange: StatelessExchange, suspended: SuspendedCall): void {
  const { request, client, server } = exchange;
  const { questions, state, lastsMs } = suspended;
  const expiresAt = context.clock.now() + Math.max(context.limits.parkedMs, lastsMs ?? 0);
  const suspensions = exchange.suspensions + 1;
  const kept = { state: state ?? null, server: server ?? null, suspensions, expiresAt };
  const sealed = sealState(context.sealer, request, client.principal, { kept });
  close(exchange, toResult(request.id, toInputRequired(questions, sealed, { info: context.target.info, lastsMs })));
}

function close(exchange: StatelessExchange, answer?: ResponseMessage, status?: number): void {
  exchange.end();
  exchange.outlet.end(answer, status);
}

function fail(context: ServeContext, exchange: StatelessExchange, thrown: unknown): void {
  if (exchange.ended) return;
  if (exchange.parked && !exchange.cancelled) return exchange.hold(() => fail(context, exchange, thrown));
  const error = toError(thrown);
  if (isLateCancel(error, exchange)) return finish(context, exchange, {});
  logFailure(context.log, exchange, error);
  if (exchange.cancelled) return close(exchange);
  const answer = toStatelessError(error, exchange.id, false);
  if ('result' in answer) return finish(context, exchange, answer.result);
  const flow = toFlowError(exchange.method, answer.error);
  close(exchange, toErrorMessage(exchange.request.id, flow ?? answer.error), flow ? 200 : answer.status);
}

/** Cancelling a finished task succeeds: cancellation is cooperative (tasks extension). */
function isLateCancel(error: GatewayError | ProtocolError, { method, params }: StatelessExchange): boolean {
  if (method !== 'tasks/cancel' || typeof params.taskId !== 'string') return false;
  return error instanceof GatewayError && error.code === 'INVALID_PARAMS';
}

function refuse(context: ServeContext, request: RequestMessage, outlet: Outlet, thrown: unknown): void {
  const error = toError(thrown);
  if (error instanceof GatewayError && (error.code === 'INTERNAL' || error.code === 'STEP_FAILED')) {
    context.log.error({ method: request.method, step: error.details.step, cause: error.cause }, 'exchange.failed');
  }
  const answer = toStatelessError(error, '', true);
  if ('result' in answer) return outlet.end(toResult(request.id, answer.result));
  const status = error instanceof ProtocolError ? 400 : answer.status;
  outlet.end(toErrorMessage(request.id, answer.error), status);
}
