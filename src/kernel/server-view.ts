// A server as we see it, and one call to it, in the neutral form.
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
} from '@modelcontextprotocol/client';
import type { Abortable } from './base/cancellation.ts';
import type { Spoken } from './era/era.ts';
import type { Ask, Exchange, LogEntry, Progress, TraceContext } from './exchange.ts';
import type { JsonObject, NotificationMessage } from './message.ts';
import type { Change } from './target.ts';

export interface ServerView extends Spoken {
  readonly revision: string;
  readonly info: Implementation;
  /** In the newest form. */
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string | undefined;
  /** Fields of its opening answer that the protocol does not define, `_meta` among them. */
  readonly greeting?: JsonObject | undefined;
  /** It is a gateway that wants the passed gateways listed in each request. */
  readonly isGateway?: boolean | undefined;
}

/** A request whose timeout can be paused while it waits for a person. */
export interface SentRequest {
  pause(): void;
  /** Once for each pause. */
  resume(): void;
}

/**
 * Tracks whether the server still works on one request that was sent. It is another object than the request, because it may outlive the caller and must
 * not keep the caller's data in memory then.
 */
export interface RequestTracker {
  /** The request is sent. */
  onSent(request?: SentRequest): void;
  /** The server is done: it has answered, in time or late. */
  onAnswered(result?: unknown): void;
  /** The server has turned the request away, and nothing runs there. */
  onRefused(): void;
  /** The caller has given up, and the server may still be working. */
  onAbandoned(): void;
}

/** Options of a call. They are data: nobody changes them while the call may be sent again. */
export interface CallOptions {
  /** Called for each request that is sent for the call. */
  track?(): RequestTracker | undefined;
  readonly signal?: Abortable | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Notifications that belong to this call and are neither progress nor log. */
  readonly onNotify?: ((notification: NotificationMessage) => void) | undefined;
  /** Log messages of this call, if the transport can tell. Default: reported as a change of the server. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** The server closed the answer's stream and asks the client to resume after this time. */
  readonly onRelease?: ((retryMs: number) => void) | undefined;
  /** The longest silence before the call fails; progress and open questions restart it. */
  readonly timeoutMs?: number | undefined;
  /** The longest total duration. */
  readonly maxTimeoutMs?: number | undefined;
  readonly trace?: TraceContext | undefined;
}

export interface OutgoingCall extends CallOptions {
  readonly method: string;
  readonly params?: JsonObject | undefined;
  /** The client that the call is for, if the era sends that with each call. Default: as the connection was opened. */
  readonly capabilities?: ClientCapabilities | undefined;
  readonly info?: Implementation | undefined;
  /** The minimum log level of this call, if the era sends that with each call. */
  readonly logLevel?: LoggingLevel | undefined;
  /** Runs it as a task if the server can. */
  readonly task?: { ttl?: number | undefined } | undefined;
  /** Returns a result with questions (`SuspendedCall`) instead of answering them. */
  readonly suspends?: boolean | undefined;
  /** Nobody vouches for the client: questions for a human are not returned to it. */
  readonly isUnproven?: boolean | undefined;
  /** The answers to earlier questions. */
  readonly resumed?: Exchange['resumed'];
  /** Answers the questions of this call. Default: the connection's own handler. */
  readonly ask?: ((ask: Ask, signal: AbortSignal) => Promise<JsonObject>) | undefined;
}

/** The client that a message is sent for. */
export type Sender = Pick<OutgoingCall, 'info' | 'capabilities'>;

/** The further params of a client's request to subscribe or unsubscribe. */
export type SubscribeOptions = Pick<OutgoingCall, 'params' | 'trace'>;

/** A log message or a custom notification. */
export type UnattributedChange = Extract<Change, { kind: 'log' | 'notification' }>;

/** Events from a server. */
export interface ServerEvents {
  onAsk(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  /** A ping. Default: answered at once. */
  onPing?(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  /** A question on the stream of an ended call. Default: treated as one that names no call. */
  onLateAsk?(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  /** `onAsk` itself pauses the calls that may have asked. Default: all calls are paused. */
  readonly pausesCalls?: boolean | undefined;
  /** How many questions of the server may be open; more are refused. */
  readonly maxAsked?: number | undefined;
  /** Tracks a request that belongs to no particular call. */
  track?(): RequestTracker;
  onChange(change: Change): void;
  /** A possibly private message that names no call. Default: for the only open call, else a change. */
  onUnnamed?(change: UnattributedChange): void;
  /** A notification about an interactive session. */
  onNotice?(notification: NotificationMessage): void;
}
