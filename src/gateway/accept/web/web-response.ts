// Collects the endpoint's answer into a web-standard Response. An answer that is complete at once becomes a Response
// with that body; one that is flushed before its end becomes a stream.
// 1. `writableLength` counts everything that is held for a slow reader.
// 2. The promise always resolves, even when the client is gone.
// 3. A reader that cancels the stream closes the response, as a broken connection closes Node's.
import { Writable } from 'node:stream';
import type { HttpResponse } from '../../../shared/http.ts';

/** How much the stream buffers before the writer has to wait. */
const STREAM_BYTES = 64 * 1024;
/** Statuses for which a Response must not have a body. */
const EMPTY = new Set([101, 204, 205, 304]);
/** Never sent: the client is gone. */
const CLIENT_GONE = 499;

export class WebResponse extends Writable implements HttpResponse {
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

  setHeader(name: string, value: string): this {
    this.#headers.set(name, value);
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
        cancel: () => this.#leave(),
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

  /** A cancelled stream is closed already. */
  #leave(): void {
    this.#stream = undefined;
    this.abandon();
  }

  #goOn(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}
