// While one listen stream replaces another, a server may tell of a change on both. The copy of the old stream waits for that of the new
// one, and the change is told once. Each stream tells in the order in which things happened, so a change that the new stream has not
// told before another one will not come on it any more. Nothing is dropped that has no copy, and nothing waits for long.
import type { NotificationMessage } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { META } from '../../meta.ts';

/** Until then the new stream has told what it was about to tell when it was acknowledged. */
const COPY_MS = 50;
/** For a server that takes its time to acknowledge. */
const MAX_WAIT_MS = 250;

export class StreamOverlap {
  readonly #tell: (notification: NotificationMessage) => void;
  /** Told by the old stream, and not by the new one so far. */
  readonly #waiting: NotificationMessage[] = [];
  /** Told by the new stream, and not by the old one so far. */
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

  /** There is one stream only. */
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
