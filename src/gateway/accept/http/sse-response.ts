// An HTTP answer that is an event stream. Says now and then that it lives, and is cut off when its reader is so slow that
// more than the allowed bytes wait for it.
import { writeComment, writeEvent } from '../../codec/sse-write.ts';
import type { OutgoingEvent } from '../../codec/sse-write.ts';
import { writeTo } from '../../codec/written.ts';
import type { Front } from '../../dialect/serve/front.ts';
import type { HttpResponse } from '../../../shared/http.ts';

const HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx would hold events back until its buffer is full
  'x-accel-buffering': 'no',
};

export class SseResponse {
  readonly #response: HttpResponse;
  readonly #front: Front;
  #stopKeepAlive: () => void = () => {};

  constructor(front: Front, response: HttpResponse, headers: Record<string, string> = {}) {
    this.#front = front;
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

  /** False when it could not be taken: the reader is gone, or was too slow and is now cut off. */
  write(event: OutgoingEvent): boolean {
    if (!this.isOpen) return false;
    const { writableLength: bytes } = this.#response;
    if (bytes <= this.#front.limits.maxBufferedBytes) {
      writeTo(this.#response, writeEvent(event));
      return true;
    }
    this.#front.log.warn({ bytes }, 'client.too-slow');
    this.#response.destroy();
    return false;
  }

  end(): void {
    this.#stopKeepAlive();
    if (this.isOpen) this.#response.end();
  }

  #keepAlive(): void {
    const { clock, limits } = this.#front;
    this.#stopKeepAlive = clock.after(limits.keepAliveMs, () => {
      if (!this.isOpen) return;
      this.#response.write(writeComment('alive'));
      this.#keepAlive();
    });
  }
}
