// A call that can be called off, for the path that every message takes: an AbortController with its signal costs more than
// all else that is made for a small call. Whoever needs the real thing gets it, made when it is first asked for.

/** What most who look at an AbortSignal want of it; an AbortSignal is one. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** An object that is there anyway saves a function made for it. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** Why a request is called off whose sender said so. `said` holds the sender's own words: a reason, `_meta`, and whatever else it sent. */
export class CancelledByPeer extends DOMException {
  readonly said: Readonly<Record<string, unknown>>;

  constructor(said: Record<string, unknown>) {
    super(typeof said.reason === 'string' ? said.reason : 'The request was cancelled', 'AbortError');
    this.said = said;
  }
}

/** The only way to cancel over HTTP in the stateless era; in the words of the official servers. */
export const CONNECTION_CLOSED = new CancelledByPeer({ reason: 'Connection closed' });

/** Why a call is called off whose client has not said so. */
export const CLIENT_GONE = new DOMException('The client is gone', 'AbortError');

export class Cancellation implements Abortable {
  aborted = false;
  reason: unknown;
  /** Mostly there is one listener, and no list is made for it. */
  #listener: AbortListener | undefined;
  #others: AbortListener[] | undefined;
  #controller: AbortController | undefined;

  /** The same as an AbortSignal. */
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

  /** Called once: nothing is aborted twice. */
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

function tell(listener: AbortListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}

/** For those who take nothing else. */
export function toSignal(abortable: Abortable): AbortSignal {
  return abortable instanceof Cancellation ? abortable.signal : (abortable as AbortSignal);
}
