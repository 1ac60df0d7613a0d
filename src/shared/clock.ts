// The only source of time, so that tests can control it, and deadlines.

export interface Clock {
  now(): number;
  /** Monotonic milliseconds. Default: `now`. */
  ticks?(): number;
  /** Calls back once after `ms`, without keeping the process alive. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** For durations, so that a changed system time does not end what has just begun. */
export function ticksOf(clock: Clock): number {
  return clock.ticks?.() ?? clock.now();
}

/** Node's timers fire at once above this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`, which loads ten modules of Node on its first call.
  ticks() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const rest = left - MAX_TIMER_MS;
      timer = rest > 0 ? setTimeout(() => wait(rest), MAX_TIMER_MS) : setTimeout(callback, left);
      timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Timers count from the start of the event-loop turn and may fire this early. */
const EARLY_MS = 1;

/**
 * One deadline. Once it has fired or was cancelled, it holds no references, because old dead objects would keep young
 * ones alive.
 */
export abstract class DeadlineItem {
  due = Infinity;
  #before: DeadlineItem | undefined;
  #after: DeadlineItem | undefined;

  abstract ring(): void;

  get after(): DeadlineItem | undefined {
    return this.#after;
  }

  standAfter(before: DeadlineItem): void {
    this.#before = before;
    this.#after = before.#after;
    if (this.#after) this.#after.#before = this;
    before.#after = this;
  }

  callOff(): void {
    if (this.#before) this.#before.#after = this.#after;
    if (this.#after) this.#after.#before = this.#before;
    this.#before = this.#after = undefined;
  }
}

class First extends DeadlineItem {
  ring(): void {}
}

/**
 * Serves many deadlines that are hardly ever reached with one timer: each call has two, and a timer for each would cost
 * more than most of its work. The timer is set for the earliest deadline and stays when that one is cancelled; it then
 * finds the next.
 */
export class DeadlineList {
  readonly #clock: Clock;
  readonly #first = new First();
  #armedFor = Infinity;
  #disarm = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return ticksOf(this.#clock);
  }

  /** Calls `ring` once after `ms`, unless it is cancelled or set again. */
  set(deadline: DeadlineItem, ms: number, now = this.now()): void {
    if (deadline.due !== Infinity) deadline.callOff(); // it was set before
    if (ms > MAX_TIMER_MS) return; // so late that it never fires
    deadline.due = now + ms;
    deadline.standAfter(this.#first);
    if (deadline.due < this.#armedFor) this.#arm(deadline.due, ms);
  }

  /** Cancels all deadlines. */
  clear(): void {
    this.#disarm();
    this.#armedFor = Infinity;
    while (this.#first.after) this.#first.after.callOff();
  }

  #arm(due: number, ms: number): void {
    this.#disarm();
    this.#armedFor = due;
    this.#disarm = this.#clock.after(ms, () => this.#look());
  }

  #look(): void {
    const now = this.now();
    const due: DeadlineItem[] = [];
    let next = Infinity;
    for (let deadline = this.#first.after; deadline; deadline = deadline.after) {
      if (deadline.due > now + EARLY_MS) next = Math.min(next, deadline.due);
      else due.push(deadline);
    }
    this.#armedFor = Infinity;
    if (next < Infinity) this.#arm(next, next - now);
    for (const deadline of due) deadline.callOff();
    // The newest is first in the list.
    for (const deadline of due.toReversed().toSorted((a, b) => a.due - b.due)) deadline.ring();
  }
}
