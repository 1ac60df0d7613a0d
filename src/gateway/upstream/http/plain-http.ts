// Makes requests to one origin with `node:http`, with the default limits of undici: connecting has a timeout, and a connection
// that was free for long is not reused, since the server may be about to close it.
import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Abortable } from '../../../shared/cancellation.ts';
import type { HttpExchangeOptions, HttpConnections, UpstreamResponse, Tls } from './http-exchange.ts';
import { ResponseBody } from './response-body.ts';

const CONNECT_MS = 10_000;
const FREE_MS = 4000;

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

function limitConnect(request: ClientRequest): void {
  request.on('socket', (socket) => {
    if (!socket.connecting) return;
    const reason = `no connection within ${CONNECT_MS / 1000} s`;
    const late = setTimeout(() => request.destroy(new Error(reason)), CONNECT_MS);
    const inTime = (): void => clearTimeout(late);
    socket.once('connect', inTime).once('close', inTime);
  });
}
