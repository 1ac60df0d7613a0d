// An HTTP answer that is an event stream. It sends keep-alive comments, and closes when its reader falls too many bytes
// behind.
import { writeComment, writeEvent } from '../../codec/sse-write.ts';
import type { OutgoingEvent } from '../../codec/sse-write.ts';
import { writeEncoded } from '../../codec/json-rpc.ts';
import type { ServeContext } from '../../dialect/serve/serve-context.ts';
import { UNCOUNTED_BYTES } from '../../../shared/held-bytes.ts';
import { holdUnsent } from '../hold-unsent.ts';
import type { HttpResponse } from '../../../shared/http.ts';

const HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx would buffer events
  'x-accel-buffering': 'no',
};

export class SseResponse {
  readonly #response: HttpResponse;
  readonly #context: ServeContext;
  #stopKeepAlive: () => void = () => {};

  constructor(context: ServeContext, response: HttpResponse, headers: Record<string, string> = {}) {
    this.#context = context;
    this.#response = response;
    response.writeHead(200, { ...HEAD, ...headers });
    response.flushHeaders();
    response.on('close', () => this.#stopKeepAlive());
    this.#keepAlive();
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  onClose(callback: () => void): void {
    this.#response.on('close', callback);
  }

  /** False when the event was not accepted: the reader is gone, or was too slow and is now cut off. */
  write(event: OutgoingEvent): boolean {
    if (!this.isOpen) return false;
    const { writableLength: bytes } = this.#response;
    if (bytes <= this.#context.limits.maxBufferedBytes) {
      writeEncoded(this.#response, writeEvent(event));
      if (this.#response.writableLength > UNCOUNTED_BYTES) holdUnsent(this.#response, this.#context);
      return true;
    }
    this.#context.log.warn({ bytes }, 'client.too-slow');
    this.#response.destroy();
    return false;
  }

  end(): void {
    this.#stopKeepAlive();
    if (this.isOpen) this.#response.end();
  }

  #keepAlive(): void {
    const { clock, limits } = this.#context;
    this.#stopKeepAlive = clock.after(limits.keepAliveMs, () => {
      if (!this.isOpen) return;
      this.#response.write(writeComment('alive'));
      this.#keepAlive();
    });
  }
}
