// One request to a server on behalf of a client, in neutral words. It is data: made once, never changed, and as whole after a failure as before it, so
// that it can be sent again. What tracks it while the server works on it is another object (open-call.ts), one for each time it is sent.
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientView, Exchange, LogEntry, TraceContext } from '../../kernel/exchange.ts';
import { withProof } from '../../kernel/form/human-marks.ts';
import type { JsonObject, NotificationMessage } from '../../kernel/message.ts';
import type { OutgoingCall } from '../../kernel/server-view.ts';
import { CALL_TOOL } from '../../kernel/methods.ts';
import type { Abortable } from '../../kernel/base/cancellation.ts';
import { toCallCapabilities } from '../../mcp/eras/speak/client-capabilities.ts';
import { withTasks } from '../../mcp/eras/stateless/envelope.ts';
import type { UpstreamConnection } from './connections/upstream-connection.ts';
import type { ConnectedServer } from '../../mcp/connect/connected-server.ts';
import type { AskRouting } from './questions/ask-routing.ts';

import { OpenCall, subjectOf } from './questions/open-call.ts';
import type { AskHandler, CallHabits, CallOwner } from './questions/open-call.ts';
import type { CallContext } from './call-context.ts';

/** Overrides for a request that differs from the exchange it is made for. */
export interface CallOverrides {
  method?: string;
  params?: JsonObject;
  signal?: Abortable | undefined;
  task?: { ttl?: number | undefined };
  /** The call may become a task of the stateless era. */
  mayBecomeTask?: boolean;
}

/** The call that a request is made for, while it has a connection. */
interface LeasedCall extends CallOwner {
  readonly exchange: Exchange;
  readonly context: CallContext;
  readonly connection: UpstreamConnection | undefined;
  readonly connected: ConnectedServer | undefined;
}

const NO_OVERRIDES: CallOverrides = {};

export class ServerRequest implements OutgoingCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: Abortable | undefined;
  readonly trace: TraceContext | undefined;
  readonly timeoutMs: number | undefined;
  readonly task: OutgoingCall['task'];
  readonly onProgress: OutgoingCall['onProgress'];
  readonly ask: AskHandler;
  readonly suspends: boolean | undefined;
  readonly isUnproven: boolean | undefined;
  readonly resumed: Exchange['resumed'];
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly #call: LeasedCall;
  readonly #routing: AskRouting;
  /** Undefined for a server that asks only in its answers: it has no habits to learn. */
  readonly #habits: CallHabits | undefined;
  readonly #startsTask: boolean;

  constructor(call: LeasedCall, wanted = NO_OVERRIDES) {
    const { exchange, client, connected, context } = call;
    const { task } = exchange;
    const { era } = connected!.server;
    const method = wanted.method ?? exchange.method;
    const params = wanted.params ?? (client.era.tasksByExtension ? withoutTask(exchange) : exchange.params);
    const asked = task?.requested && wanted.method === undefined ? { ttl: task.ttl } : undefined;
    // Without a session the server learns with each call which client it serves.
    const told = era.declaresPerRequest ? client : undefined;
    this.method = method;
    this.params = method === CALL_TOOL ? params : withProof(params, method, exchange);
    this.signal = 'signal' in wanted ? wanted.signal : (exchange.cancellation ?? exchange.signal);
    this.trace = exchange.trace;
    this.timeoutMs = context.timeoutMs;
    this.task = wanted.task ?? asked;
    this.onProgress = exchange.wantsProgress ? (progress) => exchange.progress(progress) : undefined;
    this.ask = call.ask;
    this.suspends = told && exchange.maySuspend;
    this.isUnproven = client.isUnproven;
    this.resumed = told && exchange.resumed;
    this.info = told?.info;
    this.capabilities = told && capabilitiesOf(told, wanted);
    // Until a handshake client sets a level, it gets the messages that a server of its own era would send by default.
    this.logLevel = told && (exchange.logLevel ?? (told.era.logsUnasked ? 'info' : undefined));
    this.#call = call;
    this.#routing = call.connection!.asks;
    this.#habits = era.asksByRequest ? context.connections.habits : undefined;
    this.#startsTask = method === CALL_TOOL && (wanted.task ?? task) !== undefined;
  }

  track(): OpenCall {
    const { method, params } = this;
    const open = new OpenCall(this.#routing, this.#call);
    open.method = method;
    open.startsTask = this.#startsTask;
    if (this.#habits) {
      open.habits = this.#habits;
      open.subject = subjectOf(this);
    }
    if (method.startsWith('tasks/') && typeof params.taskId === 'string') open.taskId = params.taskId;
    return open;
  }

  onNotify({ method, params }: NotificationMessage): void {
    this.#call.exchange.notify(method, params);
  }

  onLog(entry: LogEntry): void {
    this.#call.exchange.log(entry);
  }

  onRelease(retryMs: number): void {
    this.#call.exchange.releaseStream(retryMs);
  }
}

function capabilitiesOf(client: ClientView, { mayBecomeTask }: CallOverrides): ClientCapabilities {
  const capabilities = toCallCapabilities(client);
  return mayBecomeTask ? withTasks(capabilities) : capabilities;
}

/** Drops `task` from the params of a stateless call: it means nothing there, but a handshake server would obey it. */
function withoutTask({ method, params }: Exchange): JsonObject {
  if (method !== CALL_TOOL || !('task' in params)) return params;
  const { task, ...rest } = params;
  return rest;
}
