// The due times of many things, soonest first.
interface Moment {
  readonly id: string;
  at: number;
  /** Its position in the heap: never later than `at`. */
  placed: number;
  /** Orders equal times, since a heap is not stable. */
  order: number;
}

const NONE: string[] = [];

/**
 * The due times of many sessions, in a heap. A time that moves later, as most do with every answer, stays in place until it reaches the top,
 * and is then moved. A time that moves earlier is added again, and the old one is skipped.
 */
export class DueIndex {
  readonly #moments = new Map<string, Moment>();
  #heap: Moment[] = [];
  #placed = 0;

  get size(): number {
    return this.#moments.size;
  }

  /** A lower bound of the first due time; undefined if empty. */
  get next(): number | undefined {
    return this.#moments.size === 0 ? undefined : this.#heap[0]?.placed;
  }

  at(id: string): number | undefined {
    return this.#moments.get(id)?.at;
  }

  set(id: string, at: number): void {
    const known = this.#moments.get(id);
    if (known && at >= known.placed) {
      known.at = at;
      return;
    }
    const moment = { id, at, placed: at, order: this.#placed++ };
    this.#moments.set(id, moment);
    // Too many outdated items.
    if (this.#heap.length > 64 && this.#heap.length > 2 * this.#moments.size) this.#rebuild();
    else this.#push(moment);
  }

  delete(id: string): void {
    this.#moments.delete(id);
  }

  /** The ids that are due, soonest first. They stay until they are set again or deleted. */
  before(now: number, max: number): readonly string[] {
    const due: Moment[] = [];
    for (let first = this.#heap[0]; first && first.placed <= now && due.length < max; first = this.#heap[0]) {
      this.#pop();
      if (this.#moments.get(first.id) !== first) continue;
      if (first.at === first.placed) due.push(first);
      else this.#place(first);
    }
    if (due.length === 0) return NONE;
    for (const one of due) this.#push(one);
    return due.map(({ id }) => id);
  }

  clear(): void {
    this.#moments.clear();
    this.#heap = [];
  }

  #rebuild(): void {
    this.#heap = [];
    for (const moment of this.#moments.values()) this.#place(moment);
  }

  #place(moment: Moment): void {
    if (moment.placed !== moment.at) {
      moment.placed = moment.at;
      moment.order = this.#placed++;
    }
    this.#push(moment);
  }

  #push(one: Moment): void {
    const heap = this.#heap;
    let at = heap.length;
    for (; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!isBefore(one, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = one;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Moment, b: Moment): boolean {
  return a.placed < b.placed || (a.placed === b.placed && a.order < b.order);
}
