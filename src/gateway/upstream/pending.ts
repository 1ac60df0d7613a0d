// Who waits for which answer, and for how long. Invariants:
// 1. Each call is settled exactly once: by its answer, its caller, the clock, or the end of the connection.
// 2. The clock of a call starts anew with each sign of life, stands still while a question is open, and has an upper bound.
import type { Progress } from '../../protocol/exchange.ts';
import type { NotificationMessage, RequestId, ResponseMessage } from '../../protocol/message.ts';
import { isError } from '../../protocol/message.ts';
import { RawObject } from '../../protocol/raw-object.ts';
import type { Cancellation } from '../../shared/cancellation.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { PassingMap } from '../../shared/passing-map.ts';
import type { WireCall } from '../dialect/speaker.ts';

export interface PendingCall {
  readonly id: RequestId;
  readonly call: WireCall;
  /** Of its own, on HTTP. */
  readonly stream?: Cancellation | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: Error) => void;
  /** What listens to the signal of the call, until it is settled. */
  readonly onAbort: () => void;
}

/** Timers take no more and would ring at once: `Infinity` means never. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Entry extends PendingCall {
  /** When it has to have ended, whatever the server says meanwhile. */
  readonly until: number;
  stop(): void;
}

export interface Deadlines {
  timeoutMs: number;
  maxTimeoutMs: number;
}

export class Pending {
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #onTimeout: (pending: PendingCall, ms: number) => void;
  #calls = new PassingMap<RequestId, Entry>();
  #holds = 0;

  constructor(clock: Clock, deadlines: Deadlines, onTimeout: (pending: PendingCall, ms: number) => void) {
    this.#clock = clock;
    this.#deadlines = deadlines;
    this.#onTimeout = onTimeout;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(pending: PendingCall): void {
    const { id, call, stream, resolve, reject, onAbort } = pending;
    const until = this.#clock.now() + this.#totalOf(call);
    const entry: Entry = { id, call, stream, resolve, reject, onAbort, until, stop: nothing };
    this.#calls.set(pending.id, entry);
    call.signal?.addEventListener('abort', onAbort);
    this.#restart(entry);
  }

  get(id: unknown): PendingCall | undefined {
    return this.#calls.get(id as RequestId);
  }

  /** Takes a call out, to be settled by the one who takes it. */
  take(id: RequestId): PendingCall | undefined {
    const entry = this.#calls.delete(id);
    if (!entry) return undefined;
    entry.stop();
    entry.call.signal?.removeEventListener('abort', entry.onAbort);
    return entry;
  }

  /** False when nobody waits for this answer. */
  settle(response: ResponseMessage): boolean {
    const pending = response.id === null ? undefined : this.take(response.id);
    if (!pending) return false;
    if (isError(response)) {
      const { code, message, data } = response.error;
      pending.reject(new ProtocolError(code, message, data));
    } else resolve(pending, response.result);
    return true;
  }

  /** Something came that belongs to this call. */
  tell(id: unknown, notification: NotificationMessage): void {
    const entry = this.#calls.get(id as RequestId);
    if (!entry) return;
    this.#restart(entry);
    entry.call.onNotify?.(notification);
  }

  /** False when nobody waits for it. */
  progress(token: unknown, progress: Progress): boolean {
    const entry = this.#calls.get(token as RequestId);
    if (!entry) return false;
    this.#restart(entry);
    entry.call.onProgress?.(progress);
    return true;
  }

  /** The one call that an answer can be for; undefined when there are several, or none. */
  sole(): PendingCall | undefined {
    const awaited = this.#calls.values().filter(({ call }) => !call.endless);
    return awaited.length === 1 ? awaited[0] : undefined;
  }

  /** Until the returned function is called nobody is silent for too long. */
  hold(): () => void {
    if (++this.#holds === 1) for (const entry of this.#calls.values()) this.#restart(entry);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      if (--this.#holds === 0) for (const entry of this.#calls.values()) this.#restart(entry);
    };
  }

  /** The connection is gone. */
  fail(reason: (pending: PendingCall) => Error): void {
    for (const id of this.#calls.keys()) {
      const pending = this.take(id)!;
      pending.reject(reason(pending));
    }
  }

  /** One timer for both bounds: it rings at the one that comes first. */
  #restart(entry: Entry): void {
    const { call, until } = entry;
    entry.stop();
    if (call.endless) return;
    const silence = this.#holds > 0 ? Infinity : (call.timeoutMs ?? this.#deadlines.timeoutMs);
    const left = Math.max(0, until - this.#clock.now());
    const [ms, told] = silence <= left ? [silence, silence] : [left, this.#totalOf(call)];
    entry.stop = ms > MAX_TIMER_MS ? nothing : this.#clock.after(ms, () => this.#expire(entry, told));
  }

  #totalOf({ maxTimeoutMs = this.#deadlines.maxTimeoutMs }: WireCall): number {
    return maxTimeoutMs;
  }

  #expire(entry: Entry, ms: number): void {
    if (this.take(entry.id)) this.#onTimeout(entry, ms);
  }
}

/** Read here and now: another promise for it would cost more than the reading. */
function resolve({ call, resolve, reject }: PendingCall, result: unknown): void {
  try {
    const taken = !call.takesRaw && result instanceof RawObject ? result.parse() : result;
    resolve(call.read ? call.read(taken) : taken);
  } catch (thrown) {
    reject(thrown as Error);
  }
}

function nothing(): void {}

export function cancelled(): GatewayError {
  return new GatewayError('CANCELLED');
}
