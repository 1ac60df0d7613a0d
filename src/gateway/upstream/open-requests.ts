// The requests of a link that are still under way, so that one can be called off by its caller and all by `close`.
// Each has a signal of its own; the listener on the caller's signal is taken away when the request is over, since that
// signal may live for hours.
import { Cancellation } from '../../shared/cancellation.ts';
import type { Abortable } from '../../shared/cancellation.ts';

export interface OpenRequest {
  readonly signal: Abortable;
  abort(reason?: unknown): void;
  /** It is over; to be called in any case. */
  leave(): void;
}

export class OpenRequests {
  readonly #all = new Set<Cancellation>();

  enter(callers?: Abortable): OpenRequest {
    const own = new Cancellation();
    const abort = (reason?: unknown): void => own.abort(reason);
    const onAbort = (): void => abort(callers?.reason);
    this.#all.add(own);
    if (callers?.aborted === true) onAbort();
    callers?.addEventListener('abort', onAbort, { once: true });
    const leave = (): void => {
      callers?.removeEventListener('abort', onAbort);
      this.#all.delete(own);
    };
    return { signal: own, abort, leave };
  }

  abortAll(reason: unknown): void {
    for (const one of this.#all) one.abort(reason);
  }
}
