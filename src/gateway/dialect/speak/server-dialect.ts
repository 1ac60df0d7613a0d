// What a dialect has to do to speak to a server. The wire below it matches answers to requests and keeps time; the dialect
// spells requests, understands results, and hears what the server asks or tells.
import type {
  JsonObject,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from '../../../protocol/message.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { OutgoingParams } from '../../../protocol/raw/encoded-params.ts';
import type { Log } from '../../../shared/log.ts';
import type { CallOptions, OutgoingCall, SubscribeOptions, Sender, ServerView } from '../../../protocol/server-view.ts';

export interface WireCall extends Omit<CallOptions, 'trace'> {
  method: string;
  params?: JsonObject | undefined;
  /** Who answers what the server asks on the stream of this call. */
  ask?: OutgoingCall['ask'];
  headers?: Record<string, string> | undefined;
  /** The notification that calls off this request; default: the one of MCP. None where it would do harm. */
  cancelNotice?: ((id: RequestId, said: JsonObject) => NotificationMessage | undefined) | undefined;
  /** Ending the request's own stream, where it has one, is enough to call it off. */
  cancelByStream?: boolean | undefined;
  /** The params, where they must carry the token that the wire chooses for progress to arrive. */
  toParams?: ((token: number) => OutgoingParams | undefined) | undefined;
  /** Told of a result that comes after the call was called off, where it comes at all. */
  onLate?: ((result: unknown) => void) | undefined;
  /** The result may be a RawObject: if it is large, or whenever it may go on as it came. */
  takesRaw?: 'large' | 'all' | undefined;
  /** Makes of the result what the call resolves with; what it throws, the call fails with. */
  read?: ((result: unknown) => unknown) | undefined;
  /** An answer that comes with no end in sight: no time-out. */
  endless?: boolean | undefined;
}

/** A call as the wire takes it. Written out, since copying all the keys of a call costs more than the rest of sending it. */
export function toWireCall(call: OutgoingCall): WireCall {
  return {
    method: call.method,
    params: call.params,
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    maxTimeoutMs: call.maxTimeoutMs,
    tracker: call.tracker,
    ask: call.ask,
    onProgress: call.onProgress,
    onNotify: call.onNotify,
    onLog: call.onLog,
    onRelease: call.onRelease,
    headers: undefined,
    toParams: undefined,
    takesRaw: 'large',
    cancelByStream: undefined,
    onLate: undefined,
    read: undefined,
  };
}

export interface Wire {
  /** For error messages. */
  readonly name: string;
  /** HTTP: headers are sent, and each request has its own stream. */
  readonly http: boolean;
  /** Why nothing can be said any more; undefined while the connection lives. */
  readonly closedBy: string | undefined;
  readonly log: Log;
  /** Resolves with the result, as it came or as the call reads it; rejects with ProtocolError for an error of the server, GatewayError otherwise. */
  call(call: WireCall): Promise<unknown>;
  notify(notification: NotificationMessage, headers?: Record<string, string>): Promise<void>;
  respond(response: ResponseMessage): Promise<void>;
  /** The one call in flight; undefined when there are several, or none. What names no call can only be meant for it. */
  sole(): Pick<WireCall, 'onLog' | 'onNotify'> | undefined;
  /** While its question is open, a call must not time out. Without a call: all that wait now. */
  hold(call?: object): () => void;
}

export interface ServerDialect {
  readonly server: ServerView;
  call(call: OutgoingCall): Promise<ResultObject>;
  /** A request of the server; `call` where the wire says during which of our calls it was made, and `ended` if that is over. */
  onRequest(request: RequestMessage, call?: Pick<WireCall, 'ask'> | 'ended'): void;
  /** A notification that belongs to no call of ours. */
  onNotification(notification: NotificationMessage): void;
  /** `sender`: who says it, where a server is told that with each message. */
  notify(method: string, params?: JsonObject, sender?: Sender): Promise<void>;
  /** Makes the server tell of changes from now on; a handshake server does so by itself. */
  watch(): void;
  /** Asks the server to report changes of this resource. Resolves with the server's result; empty where the era has no such request. */
  subscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject>;
  unsubscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject>;
  /** Wants to be told of this task until it has ended; absent where servers tell of them by themselves. */
  followTask?(taskId: string): Promise<void>;
  setLogLevel(level: string): Promise<void>;
  /** The connection is gone: nobody waits for the answers to what the server has asked. */
  onClose?(): void;
  /** A last word before the connection is closed. */
  leave(): Promise<void>;
}
