// The requests of a link that are under way: a caller can abort one of them, and `close` all. Each has its own signal; its
// listener on the caller's signal, which may live for hours, is removed when the request ends.
import { Cancellation } from '../../../shared/cancellation.ts';
import type { Abortable } from '../../../shared/cancellation.ts';

export class OpenRequests {
  readonly #all = new Set<OpenRequest>();

  enter(callers?: Abortable): OpenRequest {
    const request = new OpenRequest(this.#all, callers);
    this.#all.add(request);
    return request;
  }

  abortAll(reason: unknown): void {
    for (const one of this.#all) one.abort(reason);
  }
}

export class OpenRequest {
  readonly #own = new Cancellation();
  readonly #all: Set<OpenRequest>;
  readonly #callers: Abortable | undefined;

  constructor(all: Set<OpenRequest>, callers: Abortable | undefined) {
    this.#all = all;
    this.#callers = callers;
    if (callers?.aborted === true) this.#onAbort();
    callers?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): Abortable {
    return this.#own;
  }

  abort(reason?: unknown): void {
    this.#own.abort(reason);
  }

  /** Call this when the request is over, in any case. */
  leave(): void {
    this.#callers?.removeEventListener('abort', this.#onAbort);
    this.#all.delete(this);
  }

  readonly #onAbort = (): void => this.#own.abort(this.#callers?.reason);
}
