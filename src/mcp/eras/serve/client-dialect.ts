// A dialect towards clients: which methods it has, and how it encodes results, errors, questions and notifications.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Ask, ClientConnection, ClientView, Exchange, LogEntry, Progress } from '../../../kernel/exchange.ts';
import type {
  JsonObject,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
  WireError,
} from '../../../kernel/message.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Change, Target } from '../../../kernel/target.ts';
import type { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import type { SplitParams } from '../meta.ts';
import type { ServeContext } from './serve-context.ts';
import type { ServedExchange } from './served-exchange.ts';

/** A request in the neutral form. */
export interface NeutralRequest {
  request: RequestMessage;
  split: SplitParams;
  task?: Exchange['task'];
}

/** What every era answers about the requests of its clients. It keeps nothing of a request. */
export interface ClientDialect<Served extends ServedExchange = ServedExchange> {
  /** Undefined if the revision lacks the method. Throws what is wrong with the request. */
  toNeutral(request: RequestMessage): NeutralRequest | undefined;
  /** Calls the target; the result may be a promise. */
  serve(exchange: Served, target: Target): unknown;
  /** Encodes the result. */
  encode(exchange: Served, answer: ResultObject): unknown;
  toError(error: GatewayError | ProtocolError, exchange: Served): ErrorAnswer;
  /** Undefined if the client wants none. */
  toProgress(progress: Progress, exchange: Served): NotificationMessage | undefined;
  toLog(entry: LogEntry): NotificationMessage | undefined;
  canAsk(ask: Ask, exchange: Served): boolean;
  /** What the client gets of a question, and how to convert its answer if that is needed. */
  toAsk(ask: Ask): AskForm;
}

export interface AskForm {
  method: string;
  params?: JsonObject;
  fromAnswer?: (answer: JsonObject) => JsonObject;
}

/** A dialect of a client with a session, which begins with `initialize`. The conversation around it (ids, cancellation, questions) is the same for all. */
export interface SessionDialect extends ClientDialect {
  readonly client: ClientView;
  readonly batches: boolean;
  /** The client accepts that a stream closes early, after an event with an id and no data. */
  readonly primesStreams: boolean;
  /** The client names its revision with each HTTP request. */
  readonly namesVersions: boolean;
  /** Progress is reported for every request, not only where a token asks for it. */
  readonly reportsAllProgress: boolean;
  /** The result of `initialize`. */
  welcome(): JsonObject;
  /** Answers a request that concerns the connection itself; undefined for any other. */
  control?(request: RequestMessage): { result: unknown } | undefined;
  /** Takes a notification that concerns the connection itself; false for any other. */
  controlled?(notification: NotificationMessage): boolean;
  /** The answer to a cancelled request; undefined if the dialect sends none. */
  toCancelled(exchange: ServedExchange): ResponseMessage | undefined;
  /** The id that a cancellation names; undefined for any other notification. */
  cancelledId(notification: NotificationMessage): unknown;
  toChange(
    change: Change,
    isSubscribed: (uri: string) => boolean,
  ): NotificationMessage | undefined | Promise<NotificationMessage | undefined>;
}

/** The conversation with a client, as its dialect sees it. */
export interface ClientSession {
  readonly context: ServeContext;
  readonly principal: string;
  readonly from: ClientConnection | undefined;
  readonly subscriptions: ReadonlySet<string>;
  setLevel(level: LoggingLevel): void;
  subscribe(uri: string): void;
  unsubscribe(uri: string): void;
  /** The client cancels a request. */
  callOff(id: RequestId, notification: NotificationMessage): void;
  /** Refuses all further requests. */
  shutDown(): void;
  /** Closes the connection, as the client wishes. */
  exit(): void;
}

/** An era that opens with `initialize`, towards clients. */
export interface EraTowardsClients {
  /** Whether a client that opens with these parameters speaks it. */
  isOpening(params: JsonObject): boolean;
  /** Throws the error that `initialize` answers. */
  toDialect(params: JsonObject, session: ClientSession): SessionDialect;
}

/** An error, or a result that tells the model about it. `status`: of HTTP, while nothing has been sent; left out, the one that carries answers. */
export type ErrorAnswer = { result: JsonObject } | { error: WireError; status?: number };
