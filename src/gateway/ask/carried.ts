// What a call has to say next, for whichever request waits for it. Only the newest counts: a question that was answered before
// anybody came for it is told to nobody.
import type { ResultObject } from '../../protocol/raw-object.ts';

export class Carried {
  #waiting: ((next: Promise<ResultObject>) => void) | undefined;
  #untold: Promise<ResultObject> | undefined;

  /** Resolves with what is said next, or has been said while nobody waited. */
  next(): Promise<ResultObject> {
    const untold = this.#untold;
    this.#untold = undefined;
    return untold ?? new Promise((resolve) => (this.#waiting = resolve));
  }

  say(next: Promise<ResultObject>): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) return waiting(next);
    next.catch(() => {}); // told to whoever comes for it
    this.#untold = next;
  }
}
