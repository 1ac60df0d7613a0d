// Tracks the calls that wait for an answer, and their timeouts. Invariants:
// 1. Each call is settled exactly once: by its answer, its caller, the clock, or the end of the connection.
// 2. The clock of a call restarts with each sign of life, stops while a question is open, and has an upper bound.
import type { Progress } from '../../protocol/exchange.ts';
import type { NotificationMessage, RequestId, ResponseMessage, JsonObject } from '../../protocol/message.ts';
import { DeadlineList, DeadlineItem } from '../../shared/deadline-list.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, toServerError } from '../../shared/errors.ts';
import { ShortLivedMap } from '../../shared/containers/short-lived-map.ts';
import type { WireCall, WireForm } from '../dialect/speak/server-dialect.ts';
import type { SentRequest } from '../../protocol/server-view.ts';
import { isError } from '../../protocol/message.ts';
import { RawObject } from '../../protocol/raw/raw-object.ts';
import { RawText } from '../../protocol/raw/raw-text.ts';
import type { Cancellation } from '../../shared/cancellation.ts';

/** Handles the events of a call that ends without an answer. */
interface PendingCallOwner {
  onTimeout(pending: PendingCall): void;
  onAbort(pending: PendingCall): void;
  /** The call was paused or resumed. */
  onPause(pending: PendingCall): void;
}

/**
 * A call that waits for its answer, its timeout or its caller's abort. It is one object for all of these, because every message makes one: a
 * closure for each would cost more than the message.
 */
export class PendingCall extends DeadlineItem implements SentRequest {
  readonly id: RequestId;
  readonly call: WireCall;
  readonly form: WireForm;
  /** The call's own stream, on HTTP. */
  readonly stream: Cancellation | undefined;
  /** The deadline that signs of life do not extend. */
  until = Infinity;
  /** How many messages the server had sent before this call. */
  heardBefore = 0;
  /** The time limit that has passed when the alarm rings. */
  limitMs = 0;
  /** Whether that is the limit of the whole call. */
  isTotal = false;
  resolve!: (result: unknown) => void;
  reject!: (reason: Error) => void;
  owner: PendingCallOwner | undefined;
  /** The number of open questions. */
  pauses = 0;

  constructor(id: RequestId, call: WireCall, form: WireForm, stream?: Cancellation) {
    super();
    this.id = id;
    this.call = call;
    this.form = form;
    this.stream = stream;
  }

  pause(): void {
    if (++this.pauses === 1) this.owner?.onPause(this);
  }

  resume(): void {
    if (--this.pauses === 0) this.owner?.onPause(this);
  }

  ring(): void {
    this.owner?.onTimeout(this);
  }

  /** Called when the caller aborts. */
  handleEvent(): void {
    this.owner?.onAbort(this);
  }

  /** Synchronous: another promise would cost more than reading the result. */
  settle(response: ResponseMessage, sent?: string): void {
    const { call, form } = this;
    call.tracker?.onAnswered('result' in response ? response.result : undefined);
    try {
      if (isError(response)) throw toServerError(response.error);
      const taken = this.#take(response.result, sent);
      this.resolve(form.read ? form.read(taken) : taken);
    } catch (thrown) {
      this.reject(thrown as Error);
    }
  }

  #take(result: unknown, sent: string | undefined): unknown {
    const { takesRaw } = this.form;
    if (sent !== undefined && takesRaw === 'all') return new RawText(result as JsonObject, sent);
    return !takesRaw && result instanceof RawObject ? result.parse() : result;
  }
}

export interface Deadlines {
  timeoutMs: number;
  maxTimeoutMs: number;
}

/** Settles a call that has already been removed. */
export interface GiveUpListener {
  onTimeout(pending: PendingCall, ms: number): void;
  onAbort(pending: PendingCall): void;
}

export class PendingCalls implements PendingCallOwner {
  readonly #alarms: DeadlineList;
  readonly #deadlines: Deadlines;
  readonly #givenUp: GiveUpListener;
  #calls = new ShortLivedMap<RequestId, PendingCall>();

  constructor(clock: Clock, deadlines: Deadlines, givenUp: GiveUpListener) {
    this.#alarms = new DeadlineList(clock);
    this.#deadlines = deadlines;
    this.#givenUp = givenUp;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(pending: PendingCall): void {
    const { id, call } = pending;
    pending.owner = this;
    const now = this.#alarms.now();
    pending.until = now + (call.maxTimeoutMs ?? this.#deadlines.maxTimeoutMs);
    this.#calls.set(id, pending);
    call.signal?.addEventListener('abort', pending);
    this.#restart(pending, now);
  }

  get(id: unknown): PendingCall | undefined {
    return this.#calls.get(id as RequestId);
  }

  /** Removes a call; the taker settles it. */
  take(id: RequestId): PendingCall | undefined {
    const pending = this.#calls.delete(id);
    if (!pending) return undefined;
    pending.callOff();
    pending.call.signal?.removeEventListener('abort', pending);
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
    const { call, form } = pending;
    if (form.onNotify) form.onNotify(notification);
    else call.onNotify?.(notification);
  }

  /** Returns false if no call waits for it. */
  progress(token: unknown, progress: Progress): boolean {
    const pending = this.#calls.get(token as RequestId);
    if (!pending) return false;
    this.#restart(pending);
    const { call, form } = pending;
    if (form.onProgress) form.onProgress(progress);
    else call.onProgress?.(progress);
    return true;
  }

  /** The only call that an answer can be for; undefined unless there is exactly one. */
  sole(): PendingCall | undefined {
    const awaited = this.#calls.values().filter(({ form }) => !form.endless);
    return awaited.length === 1 ? awaited[0] : undefined;
  }

  /** Pauses the clock of this call, or of all calls, until the returned function is called. */
  hold(call?: object): () => void {
    const held = this.#calls.values().filter((pending) => call === undefined || pending.call === call);
    for (const pending of held) pending.pause();
    return () => {
      for (const pending of held.splice(0)) pending.resume();
    };
  }

  onPause(pending: PendingCall): void {
    if (this.#calls.get(pending.id) === pending) this.#restart(pending);
  }

  /** Rejects all calls when the connection is lost. */
  fail(reason: (pending: PendingCall) => Error): void {
    for (const id of this.#calls.keys()) {
      const pending = this.take(id)!;
      pending.reject(reason(pending));
    }
    this.#alarms.clear();
  }

  onTimeout(pending: PendingCall): void {
    if (this.take(pending.id)) this.#givenUp.onTimeout(pending, pending.limitMs);
  }

  onAbort(pending: PendingCall): void {
    if (this.take(pending.id)) this.#givenUp.onAbort(pending);
  }

  /** One timer for both limits: it rings at the earlier one. */
  #restart(pending: PendingCall, now = this.#alarms.now()): void {
    const { call, until } = pending;
    if (pending.form.endless) return;
    const silence = pending.pauses > 0 ? Infinity : (call.timeoutMs ?? this.#deadlines.timeoutMs);
    const left = Math.max(0, until - now);
    pending.isTotal = silence > left;
    pending.limitMs = pending.isTotal ? (call.maxTimeoutMs ?? this.#deadlines.maxTimeoutMs) : silence;
    this.#alarms.set(pending, Math.min(silence, left), now);
  }
}

export function cancelledError(): GatewayError {
  return new GatewayError('CANCELLED');
}
