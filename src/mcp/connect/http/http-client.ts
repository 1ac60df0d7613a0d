// The HTTP client of one server: a keep-alive pool, common headers, redirects, the login, and the requests under way. It never follows a redirect to
// another origin, which would leak our credentials; never puts credentials or a query into an error; and sets no deadline, because a stream may be
// silent for hours.
import { Cancellation } from '../../../kernel/base/cancellation.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { VIA_HEADER, arrivedVia, ownVia, viaFrom, writeVia } from '../../../kernel/base/via.ts';
import type { ServerLogin } from '../accounts/server-login.ts';
import { describeNetworkError } from '../links/describe-network-error.ts';
import { discardBody } from './http-body.ts';
import { connectionsTo } from './http-exchange.ts';
import type { HttpConnections, Tls } from './http-connections.ts';
import type { UpstreamResponse } from './http-response.ts';
import { HttpRefusal } from './http-refusal.ts';

export interface HttpClientOptions {
  url: string | URL;
  /** Sent with every request. */
  headers?: Record<string, string> | undefined;
  /** The id of the gateway that sends the requests (kernel/base/via.ts). */
  id?: string | undefined;
  /** For https: trusted certificates, and our own. */
  tls?: Tls | undefined;
  /** Unused if the headers hold credentials. */
  login?: ServerLogin | undefined;
}

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** A URL of the same origin; default: that of the client. */
  url?: URL | undefined;
  /** With lower-case names. */
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
  signal: Abortable;
}

const MAX_REDIRECTS = 5;

export class HttpClient {
  readonly url: URL;
  /** The URL without credentials and query. */
  readonly name: string;
  /** The path of the URL, with its query. */
  readonly #path: string;
  readonly #connections: HttpConnections;
  readonly #id: string | undefined;
  readonly #login: ServerLogin | undefined;
  readonly #open = new Set<OpenRequest>();
  #headers: Record<string, string>;

  constructor({ url, headers = {}, tls, id, login }: HttpClientOptions) {
    this.url = toHttpUrl(url);
    this.name = this.url.origin + this.url.pathname;
    this.#path = pathOf(this.url);
    this.#id = id;
    this.#headers = { ...basicAuth(this.url), ...lowerCased(headers) };
    if (id !== undefined) this.#headers[VIA_HEADER] = writeVia(ownVia(id));
    this.#login = this.#headers['authorization'] === undefined ? login : undefined;
    this.#connections = connectionsTo(this.url.origin, tls);
  }

  /** Sets headers of all later requests; an empty value removes one. */
  setHeaders(headers: Record<string, string>): void {
    const all = Object.entries({ ...this.#headers, ...lowerCased(headers) });
    this.#headers = Object.fromEntries(all.filter(([, value]) => value !== ''));
  }

  /** Begins a request, or several that belong together: the caller can abort it by this signal, and `abortAll` aborts all. */
  enter(callers?: Abortable): OpenRequest {
    const request = new OpenRequest(this.#open, callers);
    this.#open.add(request);
    return request;
  }

  abortAll(reason: unknown): void {
    for (const one of this.#open) one.abort(reason);
  }

  /**
   * Resolves with the head of the response, whatever its status; rejects with UPSTREAM_UNREACHABLE, an error of the login, or the
   * reason of the abort.
   */
  request(request: UpstreamRequest): Promise<UpstreamResponse> {
    return this.#login === undefined ? this.#send(request) : this.#sendLoggedIn(request, this.#login);
  }

  async #sendLoggedIn(request: UpstreamRequest, login: ServerLogin): Promise<UpstreamResponse> {
    const { method, url = this.url } = request;
    for (let tries = 0; ; tries++) {
      const proof = await login.headersFor(method, url);
      const response = await this.#send(proof ? { ...request, headers: { ...request.headers, ...proof } } : request);
      const { statusCode: status, headers } = response;
      if (status !== 401 && status !== 403) {
        login.accepted();
        return response;
      }
      const refusal = { status, headers, sent: proof?.['authorization'], tries };
      const isAgain = await login.refused(refusal).catch((thrown: unknown) => {
        response.body.destroy();
        throw thrown;
      });
      if (!isAgain) return response;
      await discardBody(response.body);
    }
  }

  #send(request: UpstreamRequest): Promise<UpstreamResponse> {
    // Not spread: V8 takes ten times as long for it when keys collide, as they do here.
    const headers = Object.assign({}, this.#headers, request.headers);
    // Clients that share a connection may have come through different gateways. Only a POST belongs to one client's request.
    if (this.#id !== undefined && request.method === 'POST' && arrivedVia().length > 0)
      headers[VIA_HEADER] = writeVia(viaFrom(this.#id));
    return this.#hop(request, headers, request.url ?? this.url, 0);
  }

  /** Aborts everything that is still open. */
  destroy(): Promise<void> {
    return this.#connections.destroy();
  }

  #hop(request: UpstreamRequest, headers: Record<string, string>, url: URL, hops: number): Promise<UpstreamResponse> {
    const { method, body, signal } = request;
    const path = url === this.url ? this.#path : pathOf(url);
    return this.#connections.exchange({ path, method, headers, body, signal }).then(
      (response) => {
        const next = hops < MAX_REDIRECTS ? redirectOf(response, method, url) : undefined;
        return next ? this.#redirected(response, next, () => this.#hop(request, headers, next, hops + 1)) : response;
      },
      (cause) => {
        if (signal.aborted) throw signal.reason;
        throw new GatewayError(
          'UPSTREAM_UNREACHABLE',
          { server: this.name, reason: describeNetworkError(cause) },
          { cause },
        );
      },
    );
  }

  async #redirected(
    response: UpstreamResponse,
    to: URL,
    follow: () => Promise<UpstreamResponse>,
  ): Promise<UpstreamResponse> {
    await discardBody(response.body);
    if (to.origin === this.url.origin) return follow();
    throw new HttpRefusal(response.statusCode, `redirect to another origin, ${to.origin}, not followed`);
  }
}

/** Has its own signal; its listener on the caller's signal, which may live for hours, is removed when the request ends. */
export class OpenRequest {
  readonly #own = new Cancellation();
  readonly #all: Set<OpenRequest>;
  readonly #callers: Abortable | undefined;

  constructor(all: Set<OpenRequest>, callers: Abortable | undefined) {
    this.#all = all;
    this.#callers = callers;
    if (callers?.aborted === true) this.#onAbort();
    callers?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): Abortable {
    return this.#own;
  }

  abort(reason?: unknown): void {
    this.#own.abort(reason);
  }

  /** Call this when the request is over, in any case. */
  leave(): void {
    this.#callers?.removeEventListener('abort', this.#onAbort);
    this.#all.delete(this);
  }

  readonly #onAbort = (): void => this.#own.abort(this.#callers?.reason);
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}

function toHttpUrl(text: string | URL): URL {
  if (!URL.canParse(String(text))) throw new GatewayError('BAD_OPTION', { option: 'url', reason: 'it is not a URL' });
  const url = new URL(text);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new GatewayError('BAD_OPTION', { option: 'url', reason: `http: or https: is needed, not ${url.protocol}` });
}

function basicAuth({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The URL to follow. A POST is repeated only if the status guarantees that it stays a POST. */
function redirectOf({ statusCode, headers }: UpstreamResponse, method: string, from: URL): URL | undefined {
  if (statusCode < 300) return undefined;
  const isFollowed = method === 'GET' ? [301, 302, 307, 308] : [307, 308];
  const location = headers.location;
  if (!isFollowed.includes(statusCode) || typeof location !== 'string') return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}
