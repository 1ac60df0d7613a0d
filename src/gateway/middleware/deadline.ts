// A time after which something is given up. It can be started anew, and stands still while somebody is being waited for.
// Leaves no timer and no listener behind.
import { Cancellation } from '../../shared/cancellation.ts';
import type { Abortable } from '../../shared/cancellation.ts';
import type { Clock } from '../../shared/clock.ts';

/** Aborted when the time is up, or nobody wants the outcome any more. */
export class Deadline extends Cancellation {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #parent: Abortable;
  #pauses = 0;
  #over = false;
  #stop: () => void = () => {};
  #onExpired: () => void = () => {};

  constructor(ms: number, clock: Clock, parent: Abortable) {
    super();
    this.#ms = ms;
    this.#clock = clock;
    this.#parent = parent;
    if (parent.aborted) this.abort();
    else parent.addEventListener('abort', this.#onAbort);
    this.renew();
  }

  renew(): void {
    this.#stop();
    if (this.#pauses === 0 && !this.#over) this.#stop = this.#clock.after(this.#ms, () => this.#expire());
  }

  async pause<T>(work: () => Promise<T>): Promise<T> {
    this.#pauses++;
    this.#stop();
    try {
      return await work();
    } finally {
      this.#pauses--;
      this.renew();
    }
  }

  /** The work if it ends in time. */
  race<T>(work: Promise<T>, toReason: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#onExpired = () => reject(toReason());
      work.then(
        (outcome) => {
          this.#end();
          resolve(outcome);
        },
        (thrown: unknown) => {
          this.#end();
          reject(thrown);
        },
      );
    });
  }

  #expire(): void {
    this.#end();
    this.#onExpired();
    this.abort();
  }

  #end(): void {
    this.#over = true;
    this.#stop();
    this.#parent.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => this.abort();
}
