// One HTTP request and the head of its response, whatever its status. Aborting breaks off what is under way, the body too;
// then, and when the network fails, either the promise rejects or the body ends with an error. No listener stays on the
// caller's signal, and no connection that is called off is used again.
// Of undici only its pool is loaded: all of it takes four times as long, and its `request` twice the CPU per call.
import { createRequire } from 'node:module';
import type { Dispatcher, Pool as UndiciPool } from 'undici';
import type { Abortable } from '../../shared/cancellation.ts';
import { ResponseBody } from './response-body.ts';

/** A header that came several times is a list of them. */
type Headers = Record<string, string | string[] | undefined>;

export interface HttpResponse {
  statusCode: number;
  headers: Headers;
  body: ResponseBody;
}

export interface ExchangeOptions {
  path: string;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  body?: string | undefined;
  signal: Abortable;
}

export type Pool = UndiciPool;

const undiciPool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof UndiciPool;

export function createPool(origin: string, options: UndiciPool.Options): Pool {
  return new undiciPool(origin, options);
}

export function exchange(pool: Pool, { path, method, headers, body, signal }: ExchangeOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    pool.dispatch({ path, method, headers, body: body ?? null }, new Exchange(signal, resolve, reject));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: Abortable;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;

  constructor(signal: Abortable, resolve: (response: HttpResponse) => void, reject: (reason: Error) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#onAbort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number, headers: Headers): void {
    if (statusCode < 200) return; // the head that counts comes later
    this.#body = new ResponseBody((reason) => controller.abort(reason));
    this.#resolve({ statusCode, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#leave();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#leave();
    if (this.#body) this.#body.end(error);
    else this.#reject(error);
  }

  /** One that waits for a connection is told at once, and is not sent when there is one. */
  readonly #onAbort = (): void => {
    const reason = this.#signal.reason as Error;
    if (this.#controller) this.#controller.abort(reason);
    else this.#reject(reason);
  };

  #leave(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}
