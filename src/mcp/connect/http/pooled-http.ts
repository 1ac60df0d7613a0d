// Makes requests to one origin with undici, for callers that make many. Only its pool is loaded: all of undici takes four times
// as long to load, and its `request` twice the CPU per call.
import { createRequire } from 'node:module';
import type { Dispatcher, Pool } from 'undici';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import type { HttpExchangeOptions, HttpConnections, Tls } from './http-connections.ts';
import type { HttpHeaders, UpstreamResponse } from './http-response.ts';
import { ResponseBody } from './http-body.ts';

const undiciPool = loadPool(createRequire(import.meta.url));

export class PooledHttp implements HttpConnections {
  readonly #pool: Pool;

  constructor(origin: string, tls: Tls | undefined) {
    this.#pool = new undiciPool(origin, { headersTimeout: 0, bodyTimeout: 0, ...(tls && { connect: tls }) });
  }

  exchange({ path, method, headers, body, signal }: HttpExchangeOptions): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      this.#pool.dispatch({ path, method, headers, body: body ?? null }, new Exchange(signal, resolve, reject));
    });
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** A later version may have its files elsewhere; then all of it is loaded, so that users get its fixes without a release of ours. */
export function loadPool(load: (name: string) => unknown): typeof Pool {
  try {
    const pool = load('undici/lib/dispatcher/pool.js');
    if (typeof pool === 'function') return pool as typeof Pool;
  } catch {
    // it is not there any more
  }
  return (load('undici') as { Pool: typeof Pool }).Pool;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: Abortable;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (reason: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ResponseBody | undefined;

  constructor(signal: Abortable, resolve: (response: UpstreamResponse) => void, reject: (reason: Error) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#onAbort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number, headers: HttpHeaders): void {
    if (statusCode < 200) return; // an informational response; the final head comes later
    this.#body = new ResponseBody(controller);
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

  /** A request that waits for a connection is rejected at once and never sent. */
  readonly #onAbort = (): void => {
    const reason = this.#signal.reason as Error;
    if (this.#controller) this.#controller.abort(reason);
    else this.#reject(reason);
  };

  #leave(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}
