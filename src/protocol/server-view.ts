// A server as we call it: who it is, and one call to it, in neutral words.
import type { Abortable } from '../shared/cancellation.ts';
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
} from '@modelcontextprotocol/client';
import type { Ask, Exchange, LogEntry, Progress, TraceContext } from './exchange.ts';
import type { JsonObject, NotificationMessage } from './message.ts';
import type { Change } from './target.ts';

export interface ServerView {
  readonly dialect: 'handshake' | 'stateless' | 'draft';
  readonly revision: string;
  readonly info: Implementation;
  /** In the newest spelling. */
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string | undefined;
  /** Members of its own in the answer to the opening, `_meta` among them. */
  readonly greeting?: JsonObject | undefined;
  /** It is a gateway that wants to be told with each request which gateways it has passed. */
  readonly isGateway?: boolean | undefined;
}

/** A request whose clock can be stopped while it waits for a person. */
export interface SentRequest {
  pause(): void;
  /** Once for each pause. */
  resume(): void;
}

/** Learns from the wire what the server still owes to one request. */
export interface RequestTracker {
  /** The request goes out. */
  onSent(request?: SentRequest): void;
  /** The server is done with it: it has answered, in time or late, or refused the request as such. */
  onAnswered(result?: unknown): void;
  /** Nobody waits any more, and the server has not answered: it may still be at work. */
  onAbandoned(): void;
}

/** What can be said of a call beside its method and params. */
export interface CallOptions {
  tracker?: RequestTracker | undefined;
  signal?: Abortable | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Notifications that belong to this call and are neither progress nor log. */
  onNotify?: ((notification: NotificationMessage) => void) | undefined;
  /** Log messages that belong to this call, as far as the wire tells; default: told as a change of the server. */
  onLog?: ((entry: LogEntry) => void) | undefined;
  /** The server let go of the answer's stream and wants to be asked for the rest after so long. */
  onRelease?: ((retryMs: number) => void) | undefined;
  /** Silence allowed before the call is given up; progress and open questions start it anew. */
  timeoutMs?: number | undefined;
  /** The longest a call may take in all. */
  maxTimeoutMs?: number | undefined;
  trace?: TraceContext | undefined;
}

export interface OutgoingCall extends CallOptions {
  method: string;
  params?: JsonObject | undefined;
  /** For whom the call is made, where a server is told that with each call; default: as the connection was opened. */
  capabilities?: ClientCapabilities | undefined;
  info?: Implementation | undefined;
  /** From which level on this call may log, where a server is told that with each call. */
  logLevel?: LoggingLevel | undefined;
  /** Run it as a task where the server can. */
  task?: { ttl?: number | undefined } | undefined;
  /** A result with questions is to be given back, and not answered (suspended-call.ts). */
  suspends?: boolean | undefined;
  /** What has come of one. */
  resumed?: Exchange['resumed'];
  /** Who answers what this call asks; default: whoever answers for the connection. */
  ask?: ((ask: Ask, signal: AbortSignal) => Promise<JsonObject>) | undefined;
}

/** For whom something is sent. */
export type Sender = Pick<OutgoingCall, 'info' | 'capabilities'>;

/** What a client said in a request to subscribe or unsubscribe, beside the URI. */
export type SubscribeOptions = Pick<OutgoingCall, 'params' | 'trace'>;

/** A log message, or a notification of the server's own. */
export type UnattributedChange = Extract<Change, { kind: 'log' | 'notification' }>;

/** What a server says without being asked. */
export interface ServerEvents {
  onAsk(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  /** Whether the other end is alive. Default: answered at once. */
  onPing?(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  /** A question on the stream of a call that has ended. Default: as one that names no call. */
  onLateAsk?(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  /** Whoever answers a question that names no call stops the clocks of the calls that can have asked it. Default: all are stopped. */
  readonly pausesCalls?: boolean | undefined;
  /** Questions of the server that may be open at once; more are refused. */
  readonly maxAsked?: number | undefined;
  /** For a request that is made for no call in particular. */
  track?(): RequestTracker;
  onChange(change: Change): void;
  /** Something that may be private and names no call. Default: for the only call there is, else a change. */
  onUnnamed?(change: UnattributedChange): void;
  /** Something that it says of one of its interactive sessions. */
  onNotice?(notification: NotificationMessage): void;
}
