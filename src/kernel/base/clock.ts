// The only source of time, so that tests can control it; and lists of deadlines, which share one timer.

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
export const EARLY_MS = 1;

/**
 * One deadline, as a member of its list. Once it has fired or was cancelled, it holds no references, because old dead
 * objects would keep young ones alive.
 */
export interface DeadlineNode {
  due: number;
  before: DeadlineNode | undefined;
  after: DeadlineNode | undefined;
  ring(): void;
}

export abstract class DeadlineItem implements DeadlineNode {
  due = Infinity;
  before: DeadlineNode | undefined;
  after: DeadlineNode | undefined;

  abstract ring(): void;

  callOff(): void {
    callOff(this);
  }
}

/** For members that extend another class. */
export function callOff(member: DeadlineNode): void {
  if (member.before) member.before.after = member.after;
  if (member.after) member.after.before = member.before;
  member.before = member.after = undefined;
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
  set(deadline: DeadlineNode, ms: number, now = this.now()): void {
    if (deadline.due !== Infinity) callOff(deadline); // it was set before
    if (ms > MAX_TIMER_MS) return; // so late that it never fires
    deadline.due = now + ms;
    this.#insert(deadline);
    if (deadline.due < this.#armedFor) this.#arm(deadline.due, ms);
  }

  #insert(deadline: DeadlineNode): void {
    const { after } = this.#first;
    deadline.before = this.#first;
    deadline.after = after;
    if (after) after.before = deadline;
    this.#first.after = deadline;
  }

  /** Cancels all deadlines. */
  clear(): void {
    this.#disarm();
    this.#armedFor = Infinity;
    while (this.#first.after) callOff(this.#first.after);
  }

  #arm(due: number, ms: number): void {
    this.#disarm();
    this.#armedFor = due;
    this.#disarm = this.#clock.after(ms, () => this.#look());
  }

  #look(): void {
    const now = this.now();
    const due: DeadlineNode[] = [];
    let next = Infinity;
    for (let deadline = this.#first.after; deadline; deadline = deadline.after) {
      if (deadline.due > now + EARLY_MS) next = Math.min(next, deadline.due);
      else due.push(deadline);
    }
    this.#armedFor = Infinity;
    if (next < Infinity) this.#arm(next, next - now);
    for (const deadline of due) callOff(deadline);
    // The newest is first in the list.
    for (const deadline of due.toReversed().toSorted((a, b) => a.due - b.due)) deadline.ring();
  }
}
