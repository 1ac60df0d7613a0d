// Hands the next result of a call to the request that waits for it. Only the newest counts: a question that was
// answered before it was fetched is dropped.
import type { ResultObject } from '../../protocol/raw/raw-object.ts';

interface Waiting {
  resolve: (next: ResultObject | Promise<ResultObject>) => void;
  reject: (reason: unknown) => void;
}

export class ResultMailbox {
  #waiting: Waiting | undefined;
  #untold: Promise<ResultObject> | undefined;

  /** Resolves with the next result, or the one that already waits. */
  next(): Promise<ResultObject> {
    const untold = this.#untold;
    this.#untold = undefined;
    return untold ?? new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  say(next: ResultObject | Promise<ResultObject>): void {
    const waiting = this.#takeWaiting();
    if (waiting) return waiting.resolve(next);
    this.#untold = Promise.resolve(next);
    this.#untold.catch(() => {}); // reported to the request that fetches it
  }

  fail(reason: unknown): void {
    const waiting = this.#takeWaiting();
    if (waiting) waiting.reject(reason);
    else this.say(Promise.reject(reason));
  }

  #takeWaiting(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}
