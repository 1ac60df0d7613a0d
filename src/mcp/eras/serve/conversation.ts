// One client that has sent `initialize` or is about to; that decides its dialect. It knows no transport: each message
// arrives with the outlet for its answer, and a back channel carries what belongs to no request.
// 1. Each request gets exactly one answer, or none if it was cancelled and the dialect sends none.
// 2. Before `initialize` only ping, capabilities and initialize are served; a second `initialize` is refused.
// 3. Nothing is sent to the client after close().
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Ask, ClientConnection, ClientView, LogEntry, Progress } from '../../../kernel/exchange.ts';
import { isNotification, isRequest, toErrorMessage, toNotification, toResult } from '../../../kernel/message.ts';
import type {
  JsonObject,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from '../../../kernel/message.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Change } from '../../../kernel/target.ts';
import { cancelledError } from '../../../kernel/base/cancelled-error.ts';
import { CancelledByPeer } from '../../../kernel/base/cancellation.ts';
import { GatewayError, toError } from '../../../kernel/base/errors.ts';
import { ShortLivedMap } from '../../../kernel/containers/short-lived-map.ts';
import { arrivedVia, runVia } from '../../../kernel/base/via.ts';
import { cannotBeAsked, missingCapability } from '../ask.ts';
import { isWithinAny, isAtLeast, isLogLevel, PROGRESS } from '../notifications.ts';
import { plainError } from '../plain-error.ts';
import type { ServeContext } from './serve-context.ts';
import { INITIALIZED, OPEN_METHODS, chooseClientDialect, preliminaryDialect } from './initialize.ts';
import { logFailure, ServedExchange } from './served-exchange.ts';
import type { Outlet } from './served-exchange.ts';
import { PendingAsks } from './pending-asks.ts';
import type { SessionDialect, ClientSession } from './client-dialect.ts';

/** Carries messages that belong to no request. */
interface BackChannel extends Pick<Outlet, 'send'> {
  /** Whether the client listens now; if absent, it listens until it leaves. */
  readonly isListening?: boolean;
}

interface ConversationEvents {
  /** The client asked to close the connection, with an exit status for a process. */
  onExit(status: number): void;
  /** How the client connected. */
  readonly from?: ClientConnection | undefined;
  /** The client changed a setting that a later process needs. */
  onSetting?(change: SettingChange): void;
}

export type SettingChange = { level: LoggingLevel } | { subscribe: string } | { unsubscribe: string };

/** A client whose session began in an earlier process. */
interface RestoredClient {
  /** The parameters of its `initialize`. */
  opening: JsonObject;
  level?: string | undefined;
  subscriptions: Iterable<string>;
}

export class Conversation implements ClientSession {
  readonly context: ServeContext;
  readonly principal: string;
  readonly from: ClientConnection | undefined;
  dialect: SessionDialect | undefined;
  /** The level that the client set; until then, info and above are sent. */
  chosenLevel: LoggingLevel | undefined;
  readonly subscriptions: Set<string> = new Set();
  #back: BackChannel;
  #events: ConversationEvents;
  #inFlight = new ShortLivedMap<RequestId, ServedExchange>();
  #asks = new PendingAsks();
  #unwatch: (() => void) | undefined;
  /** The exchange for messages that belong to no request. */
  #unrelated: ServedExchange | undefined;
  /** The gateways that the client's `initialize` named. */
  #via: readonly string[] | undefined;
  #shutDown = false;
  #closed = false;

  constructor(context: ServeContext, principal: string, back: BackChannel, events: ConversationEvents) {
    this.context = context;
    this.principal = principal;
    this.#back = back;
    this.from = events.from;
    this.#events = events;
  }

  receive(message: Message, outlet: Outlet): void {
    if (this.#closed) return;
    // Later messages count as sent by the gateway that opened the connection.
    if (this.#via && arrivedVia().length === 0) return runVia(this.#via, () => this.receive(message, outlet));
    if (isRequest(message)) this.#request(message, outlet);
    else {
      if (isNotification(message)) this.#notification(message);
      else if (!this.#asks.take(message, outlet.arrival))
        this.context.log.warn({ id: message.id }, 'answer.unexpected');
      outlet.end();
    }
  }

  /** Restores a client of an earlier process. Throws the error that `initialize` would answer. */
  restore({ opening, level, subscriptions }: RestoredClient): void {
    const dialect = chooseClientDialect(opening, this);
    this.#begin(dialect);
    this.#asks.open();
    if (isLogLevel(level)) this.chosenLevel = level;
    for (const uri of subscriptions) {
      this.subscriptions.add(uri);
      this.context.target.subscribe?.(uri, dialect.client).catch((error: unknown) => {
        this.context.log.warn({ uri, error }, 'subscription.lost');
      });
    }
  }

  /** While the client was with nobody, lists and what it has subscribed to may have changed. */
  tellMissed(): void {
    for (const kind of ['tools', 'prompts', 'resources'] as const) this.#change({ kind });
    for (const uri of this.subscriptions) this.#change({ kind: 'resource', uri });
  }

  setLevel(level: LoggingLevel): void {
    this.chosenLevel = level;
    this.#events.onSetting?.({ level });
  }

  subscribe(uri: string): void {
    this.subscriptions.add(uri);
    this.#events.onSetting?.({ subscribe: uri });
  }

  unsubscribe(uri: string): void {
    this.subscriptions.delete(uri);
    this.#events.onSetting?.({ unsubscribe: uri });
  }

  /** The client left or was disconnected: cancels all requests in flight, and answers them if there is a reason. */
  close(reason?: GatewayError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unwatch?.();
    this.#asks.close();
    for (const exchange of this.#inFlight.values()) {
      exchange.lose();
      const answer = reason && toErrorMessage(exchange.request.id, plainError(reason));
      exchange.outlet.end(answer, reason?.row.status); // an HTTP answer must not stay open
    }
    this.#inFlight.clear();
  }

  /** The input has ended: open questions will not be answered. */
  endInput(): void {
    this.#asks.close();
  }

  putAsk(ask: Ask, exchange: ServedExchange, signal?: AbortSignal): Promise<JsonObject> {
    const dialect = this.dialect!;
    if (!dialect.canAsk(ask, exchange)) {
      return Promise.reject(cannotBeAsked(ask, missingCapability(ask, dialect.client.capabilities)));
    }
    const { fromAnswer, ...question } = dialect.toAsk(ask);
    exchange.hasAsked = true;
    const answer = this.#asks.put(
      { ...question, onProgress: ask.onProgress, onReceived: ask.onReceived },
      exchange,
      signal,
    );
    return fromAnswer ? answer.then(fromAnswer) : answer;
  }

  /** False if no such request is in flight. */
  callOff(id: RequestId, notification: NotificationMessage): boolean {
    const exchange = this.#inFlight.get(id);
    if (!exchange?.cancel(cancelOf(notification))) return false;
    this.#endCancelled(exchange);
    return true;
  }

  shutDown(): void {
    this.#shutDown = true;
  }

  /** A process that was shut down first ends with 0. */
  exit(): void {
    this.#events.onExit(this.#shutDown ? 0 : 1);
  }

  get logLevel(): LoggingLevel {
    return this.chosenLevel ?? 'info';
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get calls(): object[] {
    return this.#inFlight.values();
  }

  /** Whether the client has an open question. */
  get isAsking(): boolean {
    return !this.#asks.isEmpty;
  }

  #request(request: RequestMessage, outlet: Outlet): void {
    const refusal = this.#refuse(request);
    if (refusal) return outlet.end(toErrorMessage(request.id, plainError(refusal)), refusal.row.status);
    if (request.method === 'ping') return outlet.end(toResult(request.id, {}));
    if (request.method === 'initialize') return this.#initialize(request, outlet);
    const controlled = this.dialect?.control?.(request);
    if (controlled) return outlet.end(toResult(request.id, controlled.result));
    this.#serve(request, outlet);
  }

  #refuse({ method, id }: RequestMessage): GatewayError | undefined {
    const invalid = (data: string) => new GatewayError('INVALID_REQUEST', { data });
    if (this.#shutDown) return invalid('The connection is shut down');
    if (this.dialect && method === 'initialize') return invalid('Already initialized');
    if (!this.dialect && !OPEN_METHODS.has(method)) return invalid(`Not initialized: send initialize before ${method}`);
    if (this.#inFlight.has(id)) return invalid(`Request id ${JSON.stringify(id)} is already in flight`);
    const full = this.#inFlight.size >= this.context.limits.maxInFlight;
    return full ? new GatewayError('TOO_MANY', { what: 'requests in flight', limit: 'maxInFlight' }) : undefined;
  }

  #initialize(request: RequestMessage, outlet: Outlet): void {
    try {
      const dialect = chooseClientDialect(request.params ?? {}, this);
      const result = dialect.welcome();
      this.#begin(dialect);
      outlet.end(toResult(request.id, result));
    } catch (thrown) {
      outlet.end(toErrorMessage(request.id, plainError(toError(thrown))));
    }
  }

  #begin(dialect: SessionDialect): void {
    const via = arrivedVia();
    if (via.length > 0) this.#via = via.slice(-1);
    this.dialect = dialect;
    const watcher = {
      client: dialect.client,
      ask: (ask: Ask, signal?: AbortSignal) => this.#askUnrelated(ask, signal),
      notify: (method: string, params?: JsonObject) => this.#tell(toNotification(method, params)),
      isPresent: () => this.#back.isListening !== false || this.#inFlight.size > 0,
    };
    this.#unwatch = this.context.target.watch((change) => this.#change(change), watcher);
  }

  #serve(request: RequestMessage, outlet: Outlet): void {
    const dialect = this.dialect ?? preliminaryDialect(this);
    const neutral = dialect.toNeutral(request);
    if (!neutral) {
      const unknown = new GatewayError('METHOD_NOT_FOUND', { method: request.method });
      return outlet.end(toErrorMessage(request.id, plainError(unknown)));
    }
    const exchange = new ConversationExchange(neutral.request, neutral.split, dialect.client, outlet);
    exchange.conversation = this;
    exchange.task = neutral.task;
    this.#inFlight.set(request.id, exchange);
    try {
      const answer = dialect.serve(exchange, this.context.target);
      if (!(answer instanceof Promise)) return this.#succeed(exchange, dialect, answer as ResultObject);
      answer.then(
        (value: ResultObject) => this.#succeed(exchange, dialect, value),
        (thrown) => this.#fail(exchange, dialect, thrown),
      );
    } catch (thrown) {
      this.#fail(exchange, dialect, thrown);
    }
  }

  #succeed(exchange: ServedExchange, dialect: SessionDialect, answer: ResultObject): void {
    try {
      this.#finish(exchange, toResult(exchange.request.id, dialect.encode(exchange, answer)));
    } catch (thrown) {
      this.#fail(exchange, dialect, thrown);
    }
  }

  #fail(exchange: ServedExchange, dialect: SessionDialect, thrown: unknown): void {
    const error = toError(thrown);
    logFailure(this.context.log, exchange, error);
    // Clients of this era read an error only from the body of a 200, but what paces them, such as a proxy, reads the status.
    const status = error instanceof GatewayError && error.code === 'RATE_LIMITED' ? error.row.status : undefined;
    const { id } = exchange.request;
    const answer = dialect.toError(error, exchange);
    this.#finish(exchange, 'result' in answer ? toResult(id, answer.result) : toErrorMessage(id, answer.error), status);
  }

  #finish(exchange: ServedExchange, answer: ResponseMessage, status?: number): void {
    if (!exchange.end()) return;
    if (exchange.hasAsked) this.#asks.endOf(exchange);
    this.#inFlight.delete(exchange.request.id);
    if (!this.#closed) exchange.outlet.end(answer, status);
  }

  #notification(notification: NotificationMessage): void {
    const { method } = notification;
    if (this.dialect?.controlled?.(notification)) return;
    if (this.dialect && INITIALIZED.has(method)) return this.#asks.open();
    const id = this.dialect?.cancelledId(notification);
    if (id !== undefined && this.callOff(id as RequestId, notification)) return;
    if (method === PROGRESS) this.#asks.progress(notification.params ?? {});
    else if (this.dialect && id === undefined) this.context.target.notify?.(notification, this.dialect.client);
  }

  /** Answers the client at once, even if the handler is slow to notice. */
  #endCancelled(exchange: ServedExchange): void {
    const answer = this.dialect?.toCancelled(exchange);
    exchange.end();
    this.#inFlight.delete(exchange.request.id);
    exchange.outlet.end(answer);
  }

  /** A question that belongs to no request goes out on the back channel. */
  #askUnrelated(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    const { dialect } = this;
    if (!dialect || this.#closed) return Promise.reject(cancelledError('gone'));
    this.#unrelated ??= unrelatedExchange(this, dialect.client, this.#back);
    const isUnheard = ask.method === 'ping' && this.#back.isListening === false;
    // The server may not wait until the client listens again, so use the stream of an open request.
    const exchange = isUnheard ? this.#inFlight.values().at(-1) : this.#unrelated;
    return exchange ? this.putAsk(ask, exchange, signal) : Promise.reject(cannotBeAsked(ask, undefined));
  }

  #change(change: Change): void {
    if (change.kind === 'log' && !isAtLeast(change.entry.level, this.logLevel)) return;
    if (change.kind === 'task' && change.principal !== this.principal) return;
    const told = this.dialect?.toChange(change, (uri) => isWithinAny(uri, this.subscriptions));
    if (told instanceof Promise)
      void told.then(
        (notification) => this.#tell(notification),
        () => {},
      ); // a change that cannot be told
    else this.#tell(told);
  }

  #tell(notification: NotificationMessage | undefined): void {
    if (!notification || this.#closed) return;
    try {
      this.#back.send(notification);
    } catch (error) {
      this.context.log.error({ error, method: notification.method }, 'change.untold'); // other clients must still be notified
    }
  }
}

/** The cancellation with the client's reason. */
export function cancelOf({ params = {} }: NotificationMessage): CancelledByPeer {
  const { requestId: _, id: _id, ...said } = params;
  return new CancelledByPeer(said);
}

/** One request of a conversation. The conversation's dialect encodes everything it sends. */
class ConversationExchange extends ServedExchange {
  /** Set as soon as it is made. */
  declare conversation: Conversation;

  override get wantsProgress(): boolean {
    return this.progressToken !== undefined || this.conversation.dialect?.reportsAllProgress === true;
  }

  progress(progress: Progress): void {
    this.tell(this.conversation.dialect?.toProgress(progress, this));
  }

  log(entry: LogEntry): void {
    if (isAtLeast(entry.level, this.conversation.logLevel)) this.tell(this.conversation.dialect?.toLog(entry));
  }

  get logLevel(): LoggingLevel | undefined {
    return this.conversation.chosenLevel;
  }

  canAsk(ask: Ask): boolean {
    return this.conversation.dialect?.canAsk(ask, this) ?? false;
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.conversation.putAsk(ask, this, signal);
  }
}

/** An exchange for messages that belong to no request; it sends on the back channel. */
function unrelatedExchange(
  conversation: Conversation,
  client: ClientView,
  back: Pick<Outlet, 'send'>,
): ConversationExchange {
  const outlet = { send: (message: Message) => back.send(message), end: () => {}, release: () => {} };
  const split = { params: {}, progressToken: undefined, trace: undefined };
  const exchange = new ConversationExchange({ jsonrpc: '2.0', id: '', method: '' }, split, client, outlet);
  exchange.conversation = conversation;
  return exchange;
}
