// Many times that are hardly ever reached, by one timer: a call has two of them, and a timer for each would cost more than most of
// what is done for it. The timer is set for the first of them, and left alone when that one is called off: ringing in vain, it
// looks for the next.
// 1. What has rung or was called off refers to nothing any more: old dead objects would keep young ones alive.
import { ticksOf } from './clock.ts';
import type { Clock } from './clock.ts';

/** Timers take no more and would ring at once: what is further away is never. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Timers go by the time at which the loop began, and may ring that much early. */
const EARLY_MS = 1;

/** One time, in a list of all. */
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

  /** Rings once after `ms`, unless it is called off or set anew. */
  set(deadline: DeadlineItem, ms: number, now = this.now()): void {
    deadline.callOff();
    if (ms > MAX_TIMER_MS) return;
    deadline.due = now + ms;
    deadline.standAfter(this.#first);
    if (deadline.due < this.#armedFor) this.#arm(deadline.due, ms);
  }

  /** Nothing rings any more. */
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
    // The newest stands first.
    for (const deadline of due.toReversed().toSorted((a, b) => a.due - b.due)) deadline.ring();
  }
}
