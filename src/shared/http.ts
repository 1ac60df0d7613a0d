// What an HTTP handler of ours needs of a request and its response. Node's own satisfy both; other servers are adapted to them.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';

export interface HttpRequest extends Readable {
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Somebody has read the body before, by other means than this stream. */
  readonly bodyUsed?: boolean | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export interface HttpResponse extends Writable {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): void;
  writeHead(status: number, headers?: Record<string, string | number>): this;
  flushHeaders(): void;
}

export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;
