// Adapts a web-standard Request to the request type of the endpoint. Reads the body only as far as needed.
import { Readable } from 'node:stream';
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpRequest } from '../../../shared/http.ts';

export class WebRequest extends Readable implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly bodyUsed: boolean;
  readonly #body: ReadableStream<Uint8Array> | null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request, remoteAddress: string | undefined) {
    super();
    const url = new URL(request.url);
    this.method = request.method;
    this.url = url.pathname + url.search;
    this.headers = toHeaders(request, url);
    this.socket = { remoteAddress };
    this.bodyUsed = request.bodyUsed;
    this.#body = request.body as ReadableStream<Uint8Array> | null;
  }

  override _read(): void {
    if (!this.#body || this.bodyUsed) return void this.push(null);
    this.#reader ??= this.#body.getReader();
    this.#reader.read().then(
      ({ done, value }) => this.push(done ? null : value),
      () => this.destroy(), // the client hung up; Node's requests do the same
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded) void this.#cancel();
    done(error);
  }

  async #cancel(): Promise<void> {
    await this.#reader?.cancel().catch(() => {}); // it may have failed already
  }
}

/** Headers in Node's form. A Request made by hand has neither Host nor Content-Length. */
function toHeaders(request: Request, url: URL): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = Object.fromEntries(request.headers);
  headers.host ??= url.host;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    if (request.body) headers['transfer-encoding'] = 'chunked';
    else headers['content-length'] = '0';
  }
  return headers;
}
