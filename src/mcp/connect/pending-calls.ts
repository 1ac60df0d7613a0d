// Tracks the calls that wait for an answer, and their timeouts. Invariants:
// 1. Each call is settled exactly once: by its answer, its caller, the clock, or the end of the connection.
// 2. The clock of a call restarts with each sign of life, stops while a question is open, and has an upper bound.
import type { Progress } from '../../kernel/exchange.ts';
import type { NotificationMessage, RequestId, ResponseMessage } from '../../kernel/message.ts';
import { DeadlineList } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { ShortLivedMap } from '../../kernel/containers/short-lived-map.ts';
import type { WireRequest } from '../eras/speak/wire-request.ts';

export interface Deadlines {
  timeoutMs: number;
  maxTimeoutMs: number;
}

/** Settles a call that has already been removed. */
interface GiveUpListener {
  onTimeout(pending: WireRequest, ms: number): void;
  onAbort(pending: WireRequest): void;
}

export class PendingCalls implements NonNullable<WireRequest['owner']> {
  readonly #alarms: DeadlineList;
  readonly #deadlines: Deadlines;
  readonly #givenUp: GiveUpListener;
  #calls = new ShortLivedMap<RequestId, WireRequest>();

  constructor(clock: Clock, deadlines: Deadlines, givenUp: GiveUpListener) {
    this.#alarms = new DeadlineList(clock);
    this.#deadlines = deadlines;
    this.#givenUp = givenUp;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(pending: WireRequest): void {
    const { id, call, signal } = pending;
    pending.owner = this;
    const now = this.#alarms.now();
    pending.until = now + (call.maxTimeoutMs ?? this.#deadlines.maxTimeoutMs);
    this.#calls.set(id, pending);
    signal?.addEventListener('abort', pending);
    this.#restart(pending, now);
  }

  get(id: unknown): WireRequest | undefined {
    return this.#calls.get(id as RequestId);
  }

  /** Removes a call; the taker settles it. */
  take(id: RequestId): WireRequest | undefined {
    const pending = this.#calls.delete(id);
    if (!pending) return undefined;
    pending.callOff();
    pending.signal?.removeEventListener('abort', pending);
    return pending;
  }

  /** Returns false if no call waits for this answer. */
  settle(response: ResponseMessage, sent?: string): boolean {
    const pending = response.id === null ? undefined : this.take(response.id);
    pending?.settle(response, sent);
    return pending !== undefined;
  }

  /** Delivers a notification that belongs to this call. */
  tell(id: unknown, notification: NotificationMessage): void {
    const pending = this.#calls.get(id as RequestId);
    if (!pending) return;
    this.#restart(pending);
    pending.onNotify(notification);
  }

  /** Returns false if no call waits for it. */
  progress(token: unknown, progress: Progress): boolean {
    const pending = this.#calls.get(token as RequestId);
    if (!pending) return false;
    this.#restart(pending);
    pending.onProgress(progress);
    return true;
  }

  /** The only call that an answer can be for; undefined unless there is exactly one. */
  sole(): WireRequest | undefined {
    const awaited = this.#calls.values().filter(({ endless }) => !endless);
    return awaited.length === 1 ? awaited[0] : undefined;
  }

  /** Pauses the clock of this call, or of all calls, until the returned function is called. */
  pauseTimeouts(call?: object): () => void {
    const paused = this.#calls.values().filter((pending) => call === undefined || pending.call === call);
    for (const pending of paused) pending.pause();
    return () => {
      for (const pending of paused.splice(0)) pending.resume();
    };
  }

  onPause(pending: WireRequest): void {
    if (this.#calls.get(pending.id) === pending) this.#restart(pending);
  }

  /** Rejects all calls when the connection is lost. */
  fail(reason: (pending: WireRequest) => Error): void {
    for (const id of this.#calls.keys()) {
      const pending = this.take(id)!;
      pending.reject(reason(pending));
    }
    this.#alarms.clear();
  }

  onTimeout(pending: WireRequest): void {
    if (this.take(pending.id)) this.#givenUp.onTimeout(pending, pending.limitMs);
  }

  onAbort(pending: WireRequest): void {
    if (this.take(pending.id)) this.#givenUp.onAbort(pending);
  }

  /** One timer for both limits: it rings at the earlier one. */
  #restart(pending: WireRequest, now = this.#alarms.now()): void {
    const { call, until } = pending;
    if (pending.endless) return;
    const silence = pending.pauses > 0 ? Infinity : (call.timeoutMs ?? this.#deadlines.timeoutMs);
    const left = Math.max(0, until - now);
    pending.isTotal = silence > left;
    pending.limitMs = pending.isTotal ? (call.maxTimeoutMs ?? this.#deadlines.maxTimeoutMs) : silence;
    this.#alarms.set(pending, Math.min(silence, left), now);
  }
}
