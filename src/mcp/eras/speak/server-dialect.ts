// A dialect towards servers. The wire below it matches answers to requests and enforces timeouts; the dialect encodes
// requests, decodes results, and handles the server's questions and notifications.
import type { Progress } from '../../../kernel/exchange.ts';
import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from '../../../kernel/message.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { OutgoingCall, SubscribeOptions, Sender, ServerView } from '../../../kernel/server-view.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Remedy } from './remedy.ts';
import type { WireForm, WireRequest } from './wire-request.ts';

export interface Wire {
  /** For error messages. */
  readonly name: string;
  /** For HTTP: headers are sent, and each request has its own stream. */
  readonly http: boolean;
  /** Why the connection is closed; undefined while it is open. */
  readonly closedBy: string | undefined;
  readonly log: Log;
  /**
   * Resolves with the result as the request reads it; rejects with ProtocolError for a server's error, GatewayError
   * otherwise.
   */
  send(request: WireRequest): Promise<unknown>;
  /** The same for a request that needs no class of its own. */
  call(call: OutgoingCall, form?: WireForm): Promise<unknown>;
  notify(notification: NotificationMessage, headers?: Record<string, string>): Promise<void>;
  respond(response: ResponseMessage): Promise<void>;
  /**
   * The only call in flight; undefined if there are several or none. A message that names no call can only belong to
   * it.
   */
  sole(): Pick<OutgoingCall, 'onLog' | 'onNotify'> | undefined;
  /** Pauses the timeout of a call while its question is open; without a call, of all calls in flight. */
  pauseTimeouts(call?: object): () => void;
}

/** The token of a request, and its progress; undefined if that is malformed. */
export interface ServerProgress {
  token: unknown;
  progress: Progress | undefined;
}

export interface ServerDialect {
  readonly server: ServerView;
  /** `remedy`: what may be put right if the server refuses a request of the call. */
  call(call: OutgoingCall, remedy?: Remedy): Promise<ResultObject>;
  /** A request from the server. `call` is our call during which it was made, if known; `ended` if that call is over. */
  onRequest(request: RequestMessage, call?: Pick<OutgoingCall, 'ask'> | 'ended'): void;
  /** A notification that belongs to none of our calls. */
  onNotification(notification: NotificationMessage): void;
  /** Progress that the dialect reports in words of its own; undefined for any other notification. */
  readProgress?(notification: NotificationMessage): ServerProgress | undefined;
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
