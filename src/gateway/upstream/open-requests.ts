// The requests of a link that are still under way, so that one can be called off by its caller and all by `close`.
// Each has a signal of its own; the listener on the caller's signal is taken away when the request is over, since that
// signal may live for hours.
export interface OpenRequest {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** It is over; to be called in any case. */
  leave(): void;
}

export class OpenRequests {
  readonly #all = new Set<AbortController>();

  enter(callers?: AbortSignal): OpenRequest {
    const controller = new AbortController();
    const abort = (reason?: unknown): void => controller.abort(reason);
    const onAbort = (): void => abort(callers?.reason);
    this.#all.add(controller);
    if (callers?.aborted === true) onAbort();
    callers?.addEventListener('abort', onAbort, { once: true });
    const leave = (): void => {
      callers?.removeEventListener('abort', onAbort);
      this.#all.delete(controller);
    };
    return { signal: controller.signal, abort, leave };
  }

  abortAll(reason: unknown): void {
    for (const controller of this.#all) controller.abort(reason);
  }
}
