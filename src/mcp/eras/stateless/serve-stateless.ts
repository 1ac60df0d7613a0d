// Serves one message of a stateless client. Of a request it checks headers, envelope, version, standard headers,
// capabilities and parameter headers, in this order, then calls the target. It keeps no memory of the client.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { ClientConnection } from '../../../kernel/exchange.ts';
import { isObject, toErrorMessage, toResult, toInvalid } from '../../../kernel/message.ts';
import type {
  JsonObject,
  Message,
  RequestMessage,
  ResponseMessage,
  NotificationMessage,
} from '../../../kernel/message.ts';
import { CALL_METHODS, WIRE_NOTIFICATIONS } from '../../../kernel/methods.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import { readSuspended } from '../../../kernel/target.ts';
import type { SuspendedCall } from '../../../kernel/target.ts';
import { GatewayError, ProtocolError, toError } from '../../../kernel/base/errors.ts';
import { splitMeta } from '../meta.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import { logFailure } from '../serve/served-exchange.ts';
import type { Outlet } from '../serve/served-exchange.ts';
import { readEnvelope, toClient } from './envelope.ts';
import type { Envelope } from './envelope.ts';
import { checkStandardHeaders, checkVersionHeader, checkParamHeaders } from './headers.ts';
import type { Headers } from './headers.ts';
import { listen } from './listen.ts';
import { openState, sealState } from './request-state.ts';
import type { SuspendedState } from './request-state.ts';
import { toInputRequired } from './results.ts';
import { STATELESS_TASK_METHODS } from './methods.ts';
import { statelessDialectOf, tasksRequired, toStatelessError } from './stateless-client-dialect.ts';
import { StatelessExchange } from './stateless-exchange.ts';
import { isTicketOf } from '../serve/parked-calls.ts';
import type { RunningRequest } from '../serve/running-request.ts';

interface StatelessCaller {
  principal: string;
  from?: ClientConnection | undefined;
  /** Present on HTTP; the body must match them. */
  headers?: Headers | undefined;
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
    if (request.params?.requestState !== undefined) return goOn(exchange);
    run(exchange);
    return exchange;
  } catch (thrown) {
    refuse(context, request, outlet, thrown);
    return undefined;
  }
}

/** Whether the answer is a stream that does not end on its own. */
export function isEndless(message: Message): boolean {
  return 'method' in message && message.method === 'subscriptions/listen';
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
  const dialect = statelessDialectOf(envelope.revision);
  const neutral = dialect.toNeutral(request);
  if (!neutral) throw new GatewayError('METHOD_NOT_FOUND', { method: request.method });
  const answers = readAnswers(request);
  const exchange = new StatelessExchange(request, neutral.split, toClient(envelope, principal, from), outlet);
  exchange.context = context;
  exchange.dialect = dialect;
  exchange.answers = answers;
  // A client may send answers to questions it expects.
  if (answers) exchange.resumed = { state: undefined, answers, server: undefined };
  exchange.logLevel = envelope.logLevel;
  exchange.task = taskOf(envelope);
  if (STATELESS_TASK_METHODS.has(request.method) && !exchange.task) {
    throw new ProtocolError(-32021, 'The tasks extension was not declared', tasksRequired());
  }
  if (headers && request.method === 'tools/call') checkParams(headers, exchange);
  return exchange;
}

/** The answers by question key. Throws INVALID_PARAMS for a malformed one, which another retry can correct. */
function readAnswers({ method, params }: RequestMessage): JsonObject | undefined {
  const answers = params?.inputResponses;
  if (answers === undefined || !CALL_METHODS.has(method)) return undefined;
  if (!isObject(answers)) throw toInvalid('inputResponses', 'Must be an object');
  const wrong = Object.keys(answers).find((key) => !isObject(answers[key]));
  if (wrong !== undefined) throw toInvalid(`inputResponses.${wrong}`, 'Must be an object');
  return answers;
}

/** A client that declares the tasks extension allows any call to become a task. */
function taskOf({ capabilities }: Envelope): { requested: boolean } | undefined {
  return isObject(capabilities.extensions?.[TASKS_EXTENSION]) ? { requested: false } : undefined;
}

function checkParams(headers: Headers, { params, client, context }: StatelessExchange): void {
  const schema = typeof params.name === 'string' ? context.target.inputSchema?.(params.name, client) : undefined;
  if (schema) checkParamHeaders(headers, schema, params.arguments);
}

/** Handles a retry that brings answers, for a parked call or for one that is repeated. */
function goOn(retry: StatelessExchange): RunningRequest {
  const { request, client, context } = retry;
  const state = openState(context.sealer, request, client.principal);
  if ('kept' in state) {
    repeat(retry, state.kept);
    return retry;
  }
  const parked = context.parked.take(state.ticket, client.principal);
  if (parked) parked.resume(retry);
  else if (isTicketOf(context.parked, state.ticket)) finish(retry, toLost(request, CLOSED));
  else if (state.sent === false) beginAgain(retry);
  else finish(retry, toLost(request, GONE));
  return parked ?? retry;
}

/** The call was lost before a server had it. What it asks is asked again, and answers to the lost questions count for nothing. */
function beginAgain(retry: StatelessExchange): void {
  retry.answers = undefined;
  retry.resumed = undefined;
  run(retry);
}

function repeat(retry: StatelessExchange, { state, server, suspensions, expiresAt }: SuspendedState): void {
  if (expiresAt < retry.context.clock.now()) throw new GatewayError('STATE_INVALID');
  retry.suspensions = suspensions;
  retry.resumed = { state: state ?? undefined, answers: retry.takeAnswers(), server: server ?? undefined };
  run(retry);
}

const CLOSED = 'it was already answered, or it expired';
const GONE = 'the gateway that held the call has ended';

/** Tells the user, who has just answered, that the call is gone. */
function toLost({ method }: RequestMessage, why: string): JsonObject {
  if (method !== 'tools/call') throw new GatewayError('STATE_INVALID');
  const text =
    `This question is no longer open: ${why}. ` +
    'The tool may already have acted: look before you call it again. To start over, call it without requestState.';
  return { content: [{ type: 'text', text }], isError: true };
}

function run(exchange: StatelessExchange): void {
  let result;
  try {
    result = exchange.dialect.serve(exchange, exchange.context.target) as ResultObject | Promise<ResultObject>;
  } catch (thrown) {
    return fail(exchange, thrown);
  }
  if (!(result instanceof Promise)) return finish(exchange, result);
  result.then(
    (value) => finish(exchange, value),
    (thrown) => fail(exchange, thrown),
  );
}

function finish(exchange: StatelessExchange, result: ResultObject): void {
  if (exchange.ended) return;
  if (exchange.aborted) return close(exchange);
  const suspended = readSuspended(result);
  if (suspended) return suspend(exchange, suspended);
  let encoded: ResultObject;
  try {
    encoded = exchange.dialect.encode(exchange, result);
  } catch (thrown) {
    return fail(exchange, thrown); // the target's answer is not a result
  }
  if (exchange.parked) return exchange.hold(() => finish(exchange, result));
  close(exchange, toResult(exchange.request.id, encoded));
}

/** Keeps nothing in memory: the client carries what the call needs to continue. */
function suspend(exchange: StatelessExchange, { questions, state, lastsMs, isOfProcess }: SuspendedCall): void {
  const { request, client, server, context } = exchange;
  const expiresAt = context.clock.now() + Math.max(context.limits.parkedMs, lastsMs ?? 0);
  const suspensions = exchange.suspensions + 1;
  const kept = { state: state ?? null, server: server ?? null, suspensions, expiresAt };
  const { sealer, nodes } = context;
  const sealed = sealState({ sealer, mark: isOfProcess && nodes?.mark }, request, client.principal, { kept });
  close(exchange, toResult(request.id, toInputRequired(questions, sealed, { info: context.target.info, lastsMs })));
}

function close(exchange: StatelessExchange, answer?: ResponseMessage, status?: number): void {
  exchange.end();
  exchange.outlet.end(answer, status);
}

function fail(exchange: StatelessExchange, thrown: unknown): void {
  if (exchange.ended) return;
  if (exchange.parked && !exchange.aborted) return exchange.hold(() => fail(exchange, thrown));
  const error = toError(thrown);
  logFailure(exchange.context.log, exchange, error);
  if (exchange.aborted) return close(exchange);
  const answer = exchange.dialect.toError(error, exchange);
  if ('result' in answer) return finish(exchange, answer.result);
  close(exchange, toErrorMessage(exchange.request.id, answer.error), answer.status);
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

/**
 * The protocol defines only the cancellation; any other notification goes to the servers. One without an envelope is
 * dropped, because its client is unknown.
 */
export function receiveStatelessNotification(
  context: ServeContext,
  notification: NotificationMessage,
  principal: string,
): void {
  const { method, params } = notification;
  if (WIRE_NOTIFICATIONS.has(method) || !context.target.notify) return;
  try {
    const client = toClient(readEnvelope(notification, context.revisions), principal);
    const { params: own } = splitMeta(params);
    context.target.notify({ jsonrpc: '2.0', method, params: own }, client);
  } catch (error) {
    context.log.warn({ method, error }, 'notification.dropped');
  }
}
