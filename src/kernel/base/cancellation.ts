// A cheap cancellation for the hot path: an AbortController and its signal cost more than everything else in a small
// call. A real AbortSignal is created on demand.

/** The part of AbortSignal that most code uses; an AbortSignal satisfies it. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** An existing object as listener saves creating a function. */
type AbortListener = (() => void) | { handleEvent(): void };

/** The reason when the sender cancelled. `said` holds the sender's own data: a reason, `_meta` and anything else. */
export class CancelledByPeer extends DOMException {
  readonly said: Readonly<Record<string, unknown>>;

  constructor(said: Record<string, unknown>) {
    super(typeof said.reason === 'string' ? said.reason : 'The request was cancelled', 'AbortError');
    this.said = said;
  }
}

/** Over HTTP, stateless clients can only cancel by closing the connection. The text is that of the official servers. */
export const CONNECTION_CLOSED = new CancelledByPeer({ reason: 'Connection closed' });

/** The reason when the client disconnected without cancelling. */
export const CLIENT_GONE = new DOMException('The client is gone', 'AbortError');

export class Cancellation implements Abortable {
  aborted = false;
  reason: unknown;
  /** Mostly there is one listener, so no list is created for it. */
  #listener: AbortListener | undefined;
  #others: AbortListener[] | undefined;
  #controller: AbortController | undefined;

  /** As an AbortSignal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
    this.#controller?.abort(this.reason);
    const [listener, others] = [this.#listener, this.#others];
    this.#listener = this.#others = undefined;
    if (listener) tell(listener);
    others?.forEach(tell);
  }

  /** Listeners are called once. */
  addEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.aborted) return;
    if (this.#listener) (this.#others ??= []).push(listener);
    else this.#listener = listener;
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    if (listener === this.#listener) this.#listener = this.#others?.shift();
    else this.#others = this.#others?.filter((other) => other !== listener);
  }
}

/** Aborts with its parent, for the same reason. */
export class ChildCancellation extends Cancellation {
  readonly #parent: Abortable;

  constructor(parent: Abortable) {
    super();
    this.#parent = parent;
    if (parent.aborted) this.abort(parent.reason);
    else parent.addEventListener('abort', this);
  }

  /** Called when the parent aborts. */
  handleEvent(): void {
    this.abort(this.#parent.reason);
  }

  unfollow(): void {
    this.#parent.removeEventListener('abort', this);
  }
}

/** Aborts with a parent, for the same reason: what follows from an abort depends on it. Returns a function that stops it. */
export function follow(child: { abort(reason?: unknown): void }, parent: Abortable): () => void {
  const abort = (): void => child.abort(parent.reason);
  if (parent.aborted) abort();
  else parent.addEventListener('abort', abort, { once: true });
  return () => parent.removeEventListener('abort', abort);
}

function tell(listener: AbortListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}

/** For APIs that need an AbortSignal. */
export function toSignal(abortable: Abortable): AbortSignal {
  return abortable instanceof Cancellation ? abortable.signal : (abortable as AbortSignal);
}
