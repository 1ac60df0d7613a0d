// A dialect towards servers. The wire below it matches answers to requests and enforces timeouts; the dialect encodes
// requests, decodes results, and handles the server's questions and notifications.
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

/** What is asked of the server. */
export interface WireCall extends Omit<CallOptions, 'trace'> {
  method: string;
  params?: JsonObject | undefined;
  /** Answers the server's questions on the stream of this call. */
  ask?: OutgoingCall['ask'];
}

/** How a dialect writes a call and reads what comes back for it. */
export interface WireForm {
  headers?: Record<string, string> | undefined;
  /** The notification that cancels this request. Default: MCP's. Undefined where it would do harm. */
  cancelNotice?: ((id: RequestId, said: JsonObject) => NotificationMessage | undefined) | undefined;
  /** Closing the request's own stream, if it has one, cancels it. */
  cancelByStream?: boolean | undefined;
  /** Builds the params if they must carry the progress token that the wire chooses. */
  toParams?: ((token: number) => OutgoingParams | undefined) | undefined;
  /** Instead of the call's own. */
  onProgress?: WireCall['onProgress'];
  onNotify?: WireCall['onNotify'];
  /** Called with a result that arrives after the call was cancelled. */
  onLate?: ((result: unknown) => void) | undefined;
  /** Whether the result may be a RawObject: if large, or always. */
  takesRaw?: 'large' | 'all' | undefined;
  /** Converts the result; if it throws, the call fails. */
  read?: ((result: unknown) => unknown) | undefined;
  /** The answer has no end, so it has no timeout. */
  endless?: boolean | undefined;
}

export interface Wire {
  /** For error messages. */
  readonly name: string;
  /** For HTTP: headers are sent, and each request has its own stream. */
  readonly http: boolean;
  /** Why the connection is closed; undefined while it is open. */
  readonly closedBy: string | undefined;
  readonly log: Log;
  /**
   * Resolves with the result, converted by `read` if given; rejects with ProtocolError for a server's error,
   * GatewayError otherwise.
   */
  call(call: WireCall, form?: WireForm): Promise<unknown>;
  notify(notification: NotificationMessage, headers?: Record<string, string>): Promise<void>;
  respond(response: ResponseMessage): Promise<void>;
  /**
   * The only call in flight; undefined if there are several or none. A message that names no call can only belong to
   * it.
   */
  sole(): Pick<WireCall, 'onLog' | 'onNotify'> | undefined;
  /** Pauses the timeout of a call while its question is open; without a call, of all calls in flight. */
  hold(call?: object): () => void;
}

export interface ServerDialect {
  readonly server: ServerView;
  call(call: OutgoingCall): Promise<ResultObject>;
  /** A request from the server. `call` is our call during which it was made, if known; `ended` if that call is over. */
  onRequest(request: RequestMessage, call?: Pick<WireCall, 'ask'> | 'ended'): void;
  /** A notification that belongs to none of our calls. */
  onNotification(notification: NotificationMessage): void;
  /** `sender` is the client it comes from, for servers that get that with each message. */
  notify(method: string, params?: JsonObject, sender?: Sender): Promise<void>;
  /** Asks the server to report changes from now on; a handshake server does so unasked. */
  watch(): void;
  /** Asks the server to report changes of this resource. Resolves with the server's result; empty where the era has no such request. */
  subscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject>;
  unsubscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject>;
  /** Asks the server to report this task until it ends; absent where servers do so unasked. */
  followTask?(taskId: string): Promise<void>;
  setLogLevel(level: string): Promise<void>;
  /** The connection is closed: the server no longer waits for our answers. */
  onClose?(): void;
  /** Says goodbye before the connection is closed. */
  leave(): Promise<void>;
}
