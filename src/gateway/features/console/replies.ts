// How the console answers a browser: always with the same strict headers, and never for the page of another origin.
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { PAGE_HEADERS } from '../../../kernel/base/http.ts';

/** Nothing but our own files runs or is shown, no page may frame ours, and no script can turn a text into HTML. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  ...PAGE_HEADERS,
};

export interface ConsoleReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function sendReply(request: HttpRequest, response: HttpResponse, { status, type, body, headers }: ConsoleReply) {
  response.removeHeader('access-control-allow-origin');
  const all = { ...HEADERS, 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers };
  response.writeHead(status, all);
  response.end(request.method === 'HEAD' ? undefined : body);
}

export function sendJson(request: HttpRequest, response: HttpResponse, status: number, value: object): void {
  const headers = { vary: 'Cookie, Authorization' };
  sendReply(request, response, { status, type: 'application/json', body: `${JSON.stringify(value)}\n`, headers });
}

/** The answer stays open. */
export function beginEvents(response: HttpResponse): void {
  response.removeHeader('access-control-allow-origin');
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  response.flushHeaders();
}

/** A request that a page of another origin, or a link there, has made. */
export function isFromElsewhere({ headers }: HttpRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin';
}
