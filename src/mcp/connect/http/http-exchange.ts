// Makes HTTP requests and resolves with the head of each response, whatever its status. Aborting ends the request and its body:
// either the promise rejects, or the body ends with an error. No listener stays on the caller's signal, and an aborted connection
// is not reused.
// The first requests use `node:http`, because loading undici would delay a starting program. A caller that makes many requests
// then gets undici, at half the CPU per request.
import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { ResponseBody } from './http-body.ts';
import type { HttpExchangeOptions, Tls, HttpConnections } from './http-connections.ts';
import type { UpstreamResponse } from './http-response.ts';

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

const CONNECT_MS = 10_000;
const FREE_MS = 4000;

/**
 * By `node:http`, with the default limits of undici: connecting has a timeout, and a connection that was free for long is not reused, since the server
 * may be about to close it.
 */
export class PlainHttp implements HttpConnections {
  readonly #request: typeof httpRequest;
  readonly #agent: Agent;
  readonly #to: RequestOptions;

  constructor(origin: string, tls: Tls | undefined) {
    const { protocol, hostname, port } = new URL(origin);
    const kept = { keepAlive: true, timeout: FREE_MS };
    if (protocol === 'https:') {
      const https = process.getBuiltinModule('node:https'); // it loads all of TLS
      this.#request = https.request;
      this.#agent = new https.Agent({ ...kept, ...tls });
    } else {
      this.#request = httpRequest;
      this.#agent = new Agent(kept);
    }
    this.#to = { protocol, host: hostname.replace(/^\[|\]$/g, ''), port, agent: this.#agent };
  }

  exchange({ signal, body, ...options }: HttpExchangeOptions): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const request = this.#request({ ...this.#to, ...options });
      limitConnect(request);
      tellOf(request, signal, resolve, reject);
      request.end(body);
    });
  }

  async destroy(): Promise<void> {
    this.#agent.destroy();
  }
}

function limitConnect(request: ClientRequest): void {
  request.on('socket', (socket) => {
    if (!socket.connecting) return;
    const reason = `no connection within ${CONNECT_MS / 1000} s`;
    const late = setTimeout(() => request.destroy(new Error(reason)), CONNECT_MS);
    const inTime = (): void => clearTimeout(late);
    socket.once('connect', inTime).once('close', inTime);
  });
}

function tellOf(
  request: ClientRequest,
  signal: Abortable,
  resolve: (response: UpstreamResponse) => void,
  reject: (reason: Error) => void,
): void {
  let body: ResponseBody | undefined;
  const end = (error?: Error): void => {
    signal.removeEventListener('abort', onAbort);
    if (body) body.end(error);
    else reject(error ?? new Error('it closed the connection'));
  };
  const onBreak = (error: Error): void => {
    const isWhole = body !== undefined && takeRest(response!, body);
    end(isWhole ? undefined : error);
  };
  let response: IncomingMessage | undefined;
  const onAbort = (): void => {
    end(signal.reason as Error);
    request.destroy();
  };
  signal.addEventListener('abort', onAbort);
  request.on('error', onBreak); // only the first call of `end` counts
  request.on('close', () => onBreak(new Error('it closed the connection')));
  request.on('response', (started: IncomingMessage) => {
    response = started;
    const abort = (): void => void request.destroy();
    body = new ResponseBody({ abort, pause: () => void started.pause(), resume: () => void started.resume() });
    resolve({ statusCode: started.statusCode!, headers: started.headers, body });
    started.on('data', (chunk: Buffer) => body!.push(chunk));
    started.on('end', () => end());
    started.on('error', end);
  });
}

/** A response that is paused may hold something when its connection closes. Returns whether it came to its end. */
function takeRest(response: IncomingMessage, body: ResponseBody): boolean {
  response.removeAllListeners('data');
  for (let chunk = response.read() as Buffer | null; chunk; chunk = response.read() as Buffer | null) body.push(chunk);
  return response.complete;
}
