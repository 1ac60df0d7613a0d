// The part of an exchange that all dialects share when they serve a client: its identity, its cancellation, and the
// rule that nothing is sent after its end.
import { nextArrival } from '../../../kernel/arrival.ts';
import type { Ask, ClientView, Exchange, LogEntry, Progress, TraceContext } from '../../../kernel/exchange.ts';
import { toNotification } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestMessage, Message } from '../../../kernel/message.ts';
import { CLIENT_GONE, Cancellation } from '../../../kernel/base/cancellation.ts';
import { createCounter, randomId } from '../../../kernel/crypto/ids.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { ProtocolError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { SplitParams } from '../meta.ts';

/**
 * Where the answer to one incoming message goes. Transports in listen/ implement it, dialects use it. After `end` nothing may be sent; transports
 * drop anything later.
 */
export interface Outlet {
  /** A message before the answer: progress, a log line or a question. */
  send(message: Message): void;
  /** The answer, if one is due. `status` counts only while the HTTP answer has not begun. */
  end(answer?: Message | Message[], status?: number): void;
  /** When the message reached this process (kernel/arrival.ts), if that was before it could be handled. */
  readonly arrival?: number | undefined;
  /** Whether the client is connected; undefined if unknown. */
  readonly isOpen?: boolean | undefined;
  /** Closes the stream so that the client reconnects for the rest; does nothing if it cannot. */
  release(retryMs: number): void;
}

/** Unique across restarts, so that a log line found later names one exchange only. */
let nextId: (() => string) | undefined;

export abstract class ServedExchange extends Cancellation implements Exchange {
  request: RequestMessage;
  readonly method: string;
  readonly arrival: number;
  params: JsonObject;
  progressToken: string | number | undefined;
  readonly trace: TraceContext | undefined;
  client: ClientView;
  server: string | undefined;
  observed: Exchange['observed'];
  task: Exchange['task'];
  outlet: Outlet;
  #id: string | undefined;
  /** It is its own, since it can be cancelled as long as it exists. */
  readonly cancellation: Cancellation = this;
  /** The client was asked something for this request. */
  hasAsked = false;
  #ended = false;

  constructor(request: RequestMessage, split: SplitParams, client: ClientView, outlet: Outlet) {
    super();
    this.request = request;
    this.method = request.method;
    this.arrival = outlet.arrival ?? nextArrival();
    this.params = split.params;
    this.progressToken = split.progressToken;
    this.trace = split.trace;
    this.client = client;
    this.outlet = outlet;
  }

  get id(): string {
    nextId ??= createCounter(`${randomId().slice(0, 6)}-`);
    return (this.#id ??= nextId());
  }

  get wantsProgress(): boolean {
    return this.progressToken !== undefined;
  }

  /** Undefined for a request that was answered early, with a task or with a question in text. */
  get isConnected(): boolean | undefined {
    return this.#ended ? undefined : this.outlet.isOpen;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The client cancelled the request. False if it had already ended. */
  cancel(reason?: unknown): boolean {
    if (this.aborted || this.#ended) return false;
    this.abort(reason);
    return true;
  }

  /** The client disconnected without cancelling, and may come back. */
  lose(): void {
    this.cancel(CLIENT_GONE);
  }

  /** False if it had already ended. */
  end(): boolean {
    if (this.#ended) return false;
    return (this.#ended = true);
  }

  notify(method: string, params?: JsonObject): void {
    this.tell(toNotification(method, params));
  }

  releaseStream(retryMs: number): void {
    this.outlet.release(retryMs);
  }

  protected tell(notification: NotificationMessage | undefined): void {
    if (notification && !this.#ended && !this.aborted) this.outlet.send(notification);
  }

  abstract progress(progress: Progress): void;
  abstract log(entry: LogEntry): void;
  abstract canAsk(ask: Ask): boolean;
  abstract ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
}

/**
 * Logs a failed exchange under the id that the client's error carries. The client's own mistakes are not logged: an
 * operator cannot fix them.
 */
export function logFailure(
  log: Log,
  about: Pick<Exchange, 'id' | 'method' | 'server'>,
  error: GatewayError | ProtocolError,
): void {
  if (!(error instanceof GatewayError) || error.row.fault === 'client') return;
  const { id: exchange, method, server } = about;
  const { code, message, cause, details } = error;
  if (code === 'INTERNAL') log.error({ exchange, method, cause }, 'exchange.failed');
  else if (code === 'STEP_FAILED') log.error({ exchange, method, step: details.step, cause }, 'exchange.failed');
  else
    log.warn({ exchange, method, ...(server !== undefined && { server }), code, reason: message }, 'exchange.failed');
}
