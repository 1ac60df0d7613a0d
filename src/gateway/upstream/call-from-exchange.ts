// Converts an exchange into a call to a server on behalf of its client; progress, logs and questions lead back to the exchange.
import type { ClientCapabilities, LoggingLevel } from '@modelcontextprotocol/client';
import type { Abortable } from '../../shared/cancellation.ts';
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import { withProof } from '../../protocol/form/human-marks.ts';
import { fieldOf } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { OutgoingCall, ServerView } from '../../protocol/server-view.ts';
import { GatewayError } from '../../shared/errors.ts';
import { toCallCapabilities } from '../dialect/speak/client-capabilities.ts';
import { META } from '../dialect/meta.ts';
import { withTasks } from '../dialect/stateless/speak/outgoing-envelope.ts';
import type { AskHandler } from './questions/ask-routing.ts';

/** Overrides for a call that differs from the exchange it is made for. */
export interface CallOverrides {
  method?: string;
  params?: JsonObject;
  signal?: Abortable | undefined;
  task?: { ttl?: number | undefined };
  /** The call may become a task of the stateless era. */
  mayBecomeTask?: boolean;
}

export interface CallContext {
  exchange: Exchange;
  server: ServerView;
  ask: AskHandler;
  timeoutMs: number | undefined;
  tracker?: OutgoingCall['tracker'];
}

export function callFromExchange(
  { exchange, server, ask, timeoutMs, tracker }: CallContext,
  wanted: CallOverrides = {},
): OutgoingCall {
  const { method, trace, task } = exchange;
  const sent = wanted.method ?? method;
  const params = wanted.params ?? paramsOf(exchange);
  const asked = task?.requested && wanted.method === undefined ? { ttl: task.ttl } : undefined;
  // A stateless server learns with each call which client it serves.
  const client = server.dialect === 'stateless' ? exchange.client : undefined;
  return {
    method: sent,
    params: sent === 'tools/call' ? params : withProof(params, sent, exchange),
    signal: 'signal' in wanted ? wanted.signal : (exchange.cancellation ?? exchange.signal),
    trace,
    timeoutMs,
    tracker,
    task: wanted.task ?? asked,
    onProgress: exchange.wantsProgress ? (progress) => exchange.progress(progress) : undefined,
    onNotify: (notification) => exchange.notify(notification.method, notification.params),
    onLog: (entry) => exchange.log(entry),
    onRelease: (retryMs) => exchange.releaseStream(retryMs),
    ask,
    suspends: client && exchange.maySuspend,
    isUnproven: exchange.client.isUnproven,
    resumed: client && exchange.resumed,
    info: client?.info,
    capabilities: client && capabilitiesOf(client, wanted),
    logLevel: client && levelOf(exchange),
  };
}

function capabilitiesOf(client: ClientView, { mayBecomeTask }: CallOverrides): ClientCapabilities {
  const capabilities = toCallCapabilities(client);
  return mayBecomeTask ? withTasks(capabilities) : capabilities;
}

/** Until a handshake client sets a level, it gets the messages that a server of its own era would send by default. */
function levelOf({ client, logLevel }: Exchange): LoggingLevel | undefined {
  return logLevel ?? (client.dialect === 'handshake' ? 'info' : undefined);
}

/** Drops `task` from the params of a stateless call: it means nothing there, but a handshake server would obey it. */
function paramsOf({ method, params, client }: Exchange): JsonObject {
  if (method !== 'tools/call' || client.dialect !== 'stateless' || !('task' in params)) return params;
  const { task, ...rest } = params;
  return rest;
}

/** A Parley server names the missing capability in a failed result; a stateless client expects an error instead. */
export function checkCapability(result: ResultObject, { client }: Exchange): ResultObject {
  if (client.dialect !== 'stateless' || fieldOf(result, 'isError') !== true) return result;
  const meta = fieldOf(result, '_meta');
  const requiredCapabilities = isObject(meta) ? meta[META.required] : undefined;
  if (!isObject(requiredCapabilities)) return result;
  const what = Object.keys(requiredCapabilities).join(', ');
  throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what, requiredCapabilities });
}
