// A time after which something is given up. It can be started anew, and stands still while somebody is being waited for.
// Leaves no timer and no listener behind.
import type { Clock } from '../../shared/clock.ts';

export class Deadline {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  #pauses = 0;
  #over = false;
  #stop: () => void = () => {};
  #onExpired: () => void = () => {};

  constructor(ms: number, clock: Clock, parent: AbortSignal) {
    this.#ms = ms;
    this.#clock = clock;
    this.#parent = parent;
    if (parent.aborted) this.#abort();
    else parent.addEventListener('abort', this.#abort);
    this.renew();
  }

  /** Aborted when the time is up, or nobody wants the outcome any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
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
  async race<T>(work: Promise<T>, toReason: () => Error): Promise<T> {
    const expired = new Promise<never>((_, reject) => (this.#onExpired = () => reject(toReason())));
    try {
      return await Promise.race([work, expired]);
    } finally {
      this.#over = true;
      this.#stop();
      this.#parent.removeEventListener('abort', this.#abort);
    }
  }

  #expire(): void {
    this.#onExpired();
    this.#abort();
  }

  readonly #abort = (): void => this.#controller.abort();
}
