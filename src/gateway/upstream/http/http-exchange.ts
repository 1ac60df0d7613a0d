// One HTTP request and the head of its response, whatever its status. Aborting breaks off what is under way, the body too;
// then, and when the network fails, either the promise rejects or the body ends with an error. No listener stays on the
// caller's signal, and no connection that is called off is used again.
// The program that starts us waits for the first requests: `node:http` makes them sooner than undici would be loaded. A caller that makes many
// gets the others from undici, for half the CPU.
import type { ConnectionOptions } from 'node:tls';
import type { Abortable } from '../../../shared/cancellation.ts';
import { PlainHttp } from './plain-http.ts';
import type { ResponseBody } from './response-body.ts';

/** A header that came several times is a list of them. */
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

/** Connections to one origin, as many as there are requests at once; those that are free wait a little for the next. */
export interface HttpConnections {
  exchange(options: HttpExchangeOptions): Promise<UpstreamResponse>;
  /** Breaks off everything that is still open. */
  destroy(): Promise<void>;
}

/** Loading undici takes as much CPU as it saves with the first thousand requests, and 11 MB. Many sessions make fewer. */
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
    if (this.#left-- === 0) this.#goOver().catch(() => {}); // then it goes on as it began
    return this.#plain.exchange(options);
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all([this.#plain.destroy(), this.#pooled?.destroy()]);
  }

  /** What is under way stays where it is. */
  async #goOver(): Promise<void> {
    const { PooledHttp } = await import('./pooled-http.ts');
    if (!this.#isDestroyed) this.#pooled = new PooledHttp(this.#origin, this.#tls);
  }
}
