// Makes HTTP requests and resolves with the head of each response, whatever its status. Aborting ends the request and its body:
// either the promise rejects, or the body ends with an error. No listener stays on the caller's signal, and an aborted connection
// is not reused.
// The first requests use `node:http`, because loading undici would delay a starting program. A caller that makes many requests
// then gets undici, at half the CPU per request.
import type { ConnectionOptions } from 'node:tls';
import type { Abortable } from '../../../shared/cancellation.ts';
import { PlainHttp } from './plain-http.ts';
import type { ResponseBody } from './response-body.ts';

/** A repeated header is a list. */
export type HttpHeaders = Record<string, string | string[] | undefined>;

export interface UpstreamResponse {
  statusCode: number;
  headers: HttpHeaders;
  body: ResponseBody;
}

export interface HttpExchangeOptions {
  path: string;
  method: 'GET' | 'POST' | 'DELETE';
  headers: Record<string, string>;
  body?: string | undefined;
  signal: Abortable;
}

export type Tls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>;

/** Keep-alive connections to one origin, as many as there are concurrent requests. */
export interface HttpConnections {
  exchange(options: HttpExchangeOptions): Promise<UpstreamResponse>;
  /** Aborts everything that is still open. */
  destroy(): Promise<void>;
}

/** Loading undici costs 11 MB, and as much CPU as it saves in the first thousand requests; many sessions make fewer. */
const PLAIN_REQUESTS = 200;

export function connectionsTo(origin: string, tls: Tls | undefined, plainRequests = PLAIN_REQUESTS): HttpConnections {
  return new Connections(origin, tls, plainRequests);
}

class Connections implements HttpConnections {
  readonly #origin: string;
  readonly #tls: Tls | undefined;
  readonly #plain: HttpConnections;
  #pooled: HttpConnections | undefined;
  #isDestroyed = false;
  #left: number;

  constructor(origin: string, tls: Tls | undefined, plainRequests: number) {
    this.#origin = origin;
    this.#tls = tls;
    this.#plain = new PlainHttp(origin, tls);
    this.#left = plainRequests;
  }

  exchange(options: HttpExchangeOptions): Promise<UpstreamResponse> {
    if (this.#pooled) return this.#pooled.exchange(options);
    if (this.#isDestroyed) return Promise.reject(new Error('closed'));
    if (this.#left-- === 0) this.#goOver().catch(() => {}); // on failure it keeps using node:http
    return this.#plain.exchange(options);
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all([this.#plain.destroy(), this.#pooled?.destroy()]);
  }

  /** Requests under way stay on node:http. */
  async #goOver(): Promise<void> {
    const { PooledHttp } = await import('./pooled-http.ts');
    if (!this.#isDestroyed) this.#pooled = new PooledHttp(this.#origin, this.#tls);
  }
}
