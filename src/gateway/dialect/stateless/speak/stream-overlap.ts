// Removes duplicates while one listen stream replaces another and the server reports a change on both. The old stream's
// copy waits for the new stream's, and the change is reported once. Each stream is in order, so a change that the new
// stream skipped will not arrive on it. Nothing without a copy is dropped, and nothing waits long.
import type { NotificationMessage } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { META } from '../../meta.ts';

/** How long after its acknowledgement the new stream may still send copies. */
const COPY_MS = 50;
/** The limit for a server that acknowledges slowly. */
const MAX_WAIT_MS = 250;

export class StreamOverlap {
  readonly #tell: (notification: NotificationMessage) => void;
  /** Received on the old stream only, so far. */
  readonly #waiting: NotificationMessage[] = [];
  /** Received on the new stream only, so far. */
  readonly #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(tell: (notification: NotificationMessage) => void) {
    this.#tell = tell;
  }

  ofOld(notification: NotificationMessage): void {
    if (this.#isOver) return this.#tell(notification);
    if (this.#told.delete(textOf(notification))) return;
    this.#waiting.push(notification);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#release();
    }, MAX_WAIT_MS).unref();
  }

  ofNew(notification: NotificationMessage): void {
    if (this.#isOver) return this.#tell(notification);
    const text = textOf(notification);
    const copy = this.#waiting.findIndex((one) => textOf(one) === text);
    this.#release(copy === -1 ? undefined : copy);
    if (copy === -1) this.#told.add(text);
    else this.#waiting.shift();
    this.#tell(notification);
  }

  /** The new stream is open, and the old one is closed. */
  acknowledged(): void {
    if (this.#waiting.length === 0) return this.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), COPY_MS).unref();
  }

  /** Only one stream is left. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#release();
  }

  #release(count = this.#waiting.length): void {
    for (const notification of this.#waiting.splice(0, count)) this.#tell(notification);
  }
}

function textOf({ method, params = {} }: NotificationMessage): string {
  const { [META.subscriptionId]: _, ...meta } = isObject(params._meta) ? params._meta : {};
  return JSON.stringify([method, { ...params, _meta: meta }]);
}
