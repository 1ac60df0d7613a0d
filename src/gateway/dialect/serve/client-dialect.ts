// What a dialect of connections that begin with `initialize` has to say for itself: which methods exist, and how results,
// errors and notifications are spelled. The conversation around it (ids, cancellation, questions) is the same for all.
import type { Ask, ClientView, Exchange, LogEntry, Progress } from '../../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage, RequestMessage, ResponseMessage } from '../../../protocol/message.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Change, Target } from '../../../protocol/target.ts';
import type { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import type { SplitParams } from '../meta.ts';
import type { ServedExchange } from './served-exchange.ts';

export interface ClientDialect {
  readonly client: ClientView;
  readonly batches: boolean;
  /** May close a stream early, after an event with an id and no data. */
  readonly primesStreams: boolean;
  /** The request in neutral words, or undefined when this dialect has no such method. */
  toNeutral(
    request: RequestMessage,
  ): { request: RequestMessage; split: SplitParams; task?: Exchange['task'] } | undefined;
  /** Lets the target answer, at once or as a promise of it. */
  serve(exchange: Exchange, target: Target): unknown;
  /** What was answered, in the words of the dialect. */
  spell(exchange: Exchange, answer: ResultObject): unknown;
  toError(error: GatewayError | ProtocolError, exchange: ServedExchange): ResponseMessage;
  /** The answer to a request the client called off; undefined where there is none. */
  toCancelled(exchange: ServedExchange): ResponseMessage | undefined;
  /** The id named by a notification that calls off a request, or undefined when it is none. */
  cancelledId(notification: NotificationMessage): unknown;
  toChange(change: Change, isSubscribed: (uri: string) => boolean): NotificationMessage | undefined;
  toProgress(progress: Progress, exchange: ServedExchange): NotificationMessage | undefined;
  toLog(entry: LogEntry): NotificationMessage | undefined;
  canAsk(ask: Ask): boolean;
  /** Method and params of a request to the client, and how to read its answer where that is not as it stands. */
  toAsk(ask: Ask): { method: string; params?: JsonObject; fromAnswer?: (answer: JsonObject) => JsonObject };
}
