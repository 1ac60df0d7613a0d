// Turns the endpoint, which is written for Node's requests and responses, into a function from Request to Response, as Hono, Next, Bun, Deno and
// Workers call it.
import { Readable, Writable } from 'node:stream';
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';

/**
 * `platform` is the runtime's second argument: Bun's server or Deno's connection. Anything else, such as the context of
 * a Next route or the environment of a Worker, is ignored.
 */
export type Fetch = (request: Request, platform?: unknown) => Promise<Response>;

interface Platform {
  /** Bun */
  requestIP?(request: Request): { address: string } | null;
  timeout?(request: Request, seconds: number): void;
  /** Deno */
  remoteAddr?: { hostname?: string };
}

export function toFetch(handle: HttpHandler): Fetch {
  return (request, platform) => {
    const known = (platform ?? {}) as Platform;
    const outgoing = new WebResponse();
    const incoming = new WebRequest(request, addressOf(request, known));
    if (isBun(known)) known.timeout?.(request, 0); // Bun ends a silent call after ten seconds by default
    if (request.signal.aborted) outgoing.abandon();
    else request.signal.addEventListener('abort', () => outgoing.abandon(), { once: true });
    outgoing.once('close', () => incoming.destroy()); // drop the rest of a body that is too large
    handle(incoming, outgoing);
    return outgoing.response;
  };
}

function addressOf(request: Request, platform: Platform): string | undefined {
  if (isBun(platform)) return platform.requestIP!(request)?.address;
  const address = platform.remoteAddr?.hostname;
  return typeof address === 'string' ? address : undefined;
}

function isBun(platform: Platform): boolean {
  return typeof platform.requestIP === 'function' && typeof platform.timeout === 'function';
}

/** A web-standard Request as the request type of the endpoint. Reads the body only as far as needed. */
class WebRequest extends Readable implements HttpRequest {
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

/** How much the stream buffers before the writer has to wait. */
const STREAM_BYTES = 64 * 1024;
/** Statuses for which a Response must not have a body. */
const EMPTY = new Set([101, 204, 205, 304]);
/** Never sent: the client is gone. */
const CLIENT_GONE = 499;

/**
 * Collects the endpoint's answer into a web-standard Response. An answer that is complete at once becomes a Response with that body; one that is
 * flushed before its end becomes a stream.
 * 1. `writableLength` counts everything that is held for a slow reader.
 * 2. The promise always resolves, even when the client is gone.
 * 3. A reader that cancels the stream closes the response, as a broken connection closes Node's.
 */
class WebResponse extends Writable implements HttpResponse {
  headersSent = false;
  readonly response: Promise<Response>;
  readonly #headers = new Headers();
  #status = 200;
  #resolve!: (response: Response) => void;
  /** Chunks written before it is known whether more follow. */
  #held: Uint8Array<ArrayBuffer>[] = [];
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #resume: (() => void) | undefined;
  #isComplete = false;
  #isAbandoned = false;

  constructor() {
    super();
    this.response = new Promise((resolve) => (this.#resolve = resolve));
    this.on('error', () => {}); // a write after the end must not end the process
  }

  setHeader(name: string, value: string | readonly string[]): this {
    this.#headers.delete(name);
    for (const one of [value].flat()) this.#headers.append(name, one);
    return this;
  }

  removeHeader(name: string): void {
    this.#headers.delete(name);
  }

  writeHead(status: number, headers: Record<string, string | number> = {}): this {
    this.headersSent = true;
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) this.#headers.set(name, String(value));
    return this;
  }

  flushHeaders(): void {
    if (this.#stream || this.destroyed || this.#isComplete) return;
    this.headersSent = true;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#stream = controller),
        pull: () => this.#goOn(),
        cancel: () => {
          this.#stream = undefined; // closed already
          this.abandon();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: STREAM_BYTES }),
    );
    for (const chunk of this.#held.splice(0)) this.#stream!.enqueue(chunk);
    this.#resolve(new Response(body, { status: this.#status, headers: this.#headers }));
  }

  /** The client is gone. The server may still read the stream and would report an error that concerns nobody. */
  abandon(): void {
    this.#isAbandoned = true;
    this.destroy();
  }

  override _write(chunk: Buffer<ArrayBuffer>, _encoding: string, done: () => void): void {
    if (!this.#stream) {
      this.#held.push(chunk);
      queueMicrotask(() => this.writableEnded || this.flushHeaders());
      return done();
    }
    this.#stream.enqueue(chunk);
    if (this.#stream.desiredSize! > 0) done();
    else this.#resume = done;
  }

  override _final(done: () => void): void {
    this.#isComplete = true;
    if (this.#stream) this.#stream.close();
    else this.#resolve(new Response(this.#whole(), { status: this.#status, headers: this.#headers }));
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isComplete) {
      if (this.#isAbandoned) this.#stream?.close();
      else this.#stream?.error(error ?? new Error('The connection was closed'));
      this.#resolve(new Response(null, { status: CLIENT_GONE }));
    }
    done(error);
  }

  #whole(): Uint8Array<ArrayBuffer> | Blob | null {
    if (EMPTY.has(this.#status) || this.#held.length === 0) return null;
    return this.#held.length === 1 ? this.#held[0]! : new Blob(this.#held);
  }

  #goOn(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}
