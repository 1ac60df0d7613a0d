// An HTTP answer that is an event stream. It sends keep-alive comments, and closes when its reader falls too many bytes behind, or when what waits
// for the reader is more than the process can hold.
import { UNCOUNTED_BYTES, HeldShare } from '../../../kernel/base/held-bytes.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import type { HttpResponse, HttpRequest } from '../../../kernel/base/http.ts';
import { writeComment, writeEvent } from '../../wire/sse.ts';
import type { OutgoingEvent } from '../../wire/sse.ts';
import { writeEncoded } from '../../wire/json-rpc.ts';
import type { EncodedMessage } from '../../wire/json-rpc.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';

const HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx would buffer events
  'x-accel-buffering': 'no',
};

/** How many characters of waiting events are written at once. */
const JOINED_CHARS = 64 * 1024;

export class SseResponse {
  readonly #response: HttpResponse;
  readonly #context: ServeContext;
  /** Small events that wait for a reader that is behind: a write for each costs several times the memory of its text. */
  #waiting = '';
  #stopKeepAlive: () => void = () => {};

  constructor(context: ServeContext, response: HttpResponse, headers: Record<string, string> = {}) {
    this.#context = context;
    this.#response = response;
    response.writeHead(200, { ...HEAD, ...headers });
    response.flushHeaders();
    response.on('close', () => this.#stopKeepAlive());
    response.on('drain', () => this.#flush());
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
    const bytes = this.#response.writableLength + this.#waiting.length;
    if (bytes <= this.#context.limits.maxBufferedBytes) {
      this.#send(writeEvent(event));
      return true;
    }
    this.#context.log.warn({ bytes }, 'client.too-slow');
    this.#response.destroy();
    return false;
  }

  end(): void {
    this.#stopKeepAlive();
    if (!this.isOpen) return;
    this.#flush();
    this.#response.end();
  }

  #send(written: EncodedMessage): void {
    const isBehind = this.#response.writableLength > UNCOUNTED_BYTES;
    if (isBehind && typeof written === 'string') {
      this.#waiting += written;
      if (this.#waiting.length > JOINED_CHARS) this.#flush();
      return;
    }
    this.#flush();
    writeEncoded(this.#response, written);
    if (isBehind || this.#response.writableLength > UNCOUNTED_BYTES) holdUnsent(this.#response, this.#context);
  }

  #flush(): void {
    const text = this.#waiting;
    if (text === '' || !this.isOpen) return;
    this.#waiting = '';
    this.#response.write(text);
    holdUnsent(this.#response, this.#context);
  }

  #keepAlive(): void {
    const { clock, limits } = this.#context;
    this.#stopKeepAlive = clock.after(limits.keepAliveMs, () => {
      if (!this.isOpen) return;
      this.#send(writeComment('alive'));
      this.#keepAlive();
    });
  }
}

const holdings = new WeakMap<HttpResponse, HeldShare>();

/**
 * Counts what waits in a response for its reader against the byte budget of the process: one who reads nothing is cut off when the budget
 * needs it. Call it after each write.
 */
export function holdUnsent(response: HttpResponse, { limits, log }: Pick<ServeContext, 'limits' | 'log'>): void {
  const bytes = response.writableLength;
  const known = holdings.get(response);
  if (known) return void known.set(bytes);
  if (bytes <= UNCOUNTED_BYTES || response.destroyed) return;
  const cut = (): void => {
    log.warn({ bytes: response.writableLength, limit: 'maxHeldBytes' }, 'client.too-slow');
    response.destroy();
  };
  const { req: request } = response as { req?: HttpRequest }; // of Node
  const owner = `unread:${request ? addressOf(request) : ''}`;
  const holding = new HeldShare({ owner, maxBytes: limits.maxHeldBytes, cut });
  holdings.set(response, holding);
  response.on('drain', () => holding.set(response.writableLength));
  for (const end of ['close', 'finish']) response.once(end, () => holding.release());
  holding.set(bytes);
}
