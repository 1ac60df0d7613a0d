// What our HTTP handlers need of a request and its response. Node's own types satisfy both; other servers are adapted.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';

export interface HttpRequest extends Readable {
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns, as they came; of Node alone. */
  readonly rawHeaders?: readonly string[] | undefined;
  readonly httpVersion?: string | undefined;
  /** The body was already read in another way. */
  readonly bodyUsed?: boolean | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** The address of the client, if the peer is a trusted proxy. */
  clientAddress?: string | undefined;
}

export interface HttpResponse extends Writable {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): void;
  writeHead(status: number, headers?: Record<string, string | number>): this;
  flushHeaders(): void;
}

export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;
