// The second argument of a handler: a view of its exchange. It is created for every call and does nothing until it is used; it reads the
// signal only if the handler does.
import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientView, Exchange, TraceContext } from '../protocol/exchange.ts';
import { isObject } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/message.ts';
import { ExchangeAsker } from './asker.ts';
import type { Asker, Call } from './types.ts';

/** Default delay before a client should come back for an answer. */
const RETRY_MS = 500;

export class ExchangeCall implements Call {
  readonly #exchange: Exchange;
  readonly #onStatus: ((message: string) => void) | undefined;
  #asker: Asker | undefined;

  constructor(exchange: Exchange, onStatus?: (message: string) => void) {
    this.#exchange = exchange;
    this.#onStatus = onStatus;
  }

  get id(): string {
    return this.#exchange.id;
  }

  get client(): ClientView {
    return this.#exchange.client;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get meta(): JsonObject {
    const meta = this.#exchange.params['_meta'];
    return isObject(meta) ? meta : {};
  }

  get trace(): TraceContext | undefined {
    return this.#exchange.trace;
  }

  get ask(): Asker {
    return (this.#asker ??= new ExchangeAsker(this.#exchange));
  }

  progress(progress: number, total?: number, message?: string): void {
    this.#exchange.progress({ progress, total, message });
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#exchange.log({ level, data, logger });
  }

  status(message: string): void {
    this.#onStatus?.(message);
  }

  notify(method: string, params?: JsonObject): void {
    this.#exchange.notify(method, params);
  }

  releaseStream(retryMs: number = RETRY_MS): void {
    this.#exchange.releaseStream(retryMs);
  }
}
