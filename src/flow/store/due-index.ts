// When each of many sessions wants to be looked at. A heap of moments: setting one again leaves the old one in the heap, where it
// is passed over when its turn comes.
export class DueIndex {
  readonly #at = new Map<string, number>();
  #heap: { id: string; at: number }[] = [];

  set(id: string, at: number): void {
    if (this.#at.get(id) === at) return;
    this.#at.set(id, at);
    // Too many old moments: what a session that lives for long has left behind.
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#at.size) this.#rebuild();
    else this.#push({ id, at });
  }

  delete(id: string): void {
    this.#at.delete(id);
  }

  /** Those that are due, soonest first. They stay until they are set anew or deleted. */
  before(now: number, max: number): string[] {
    const due: { id: string; at: number }[] = [];
    for (let first = this.#heap[0]; first && first.at <= now && due.length < max; first = this.#heap[0]) {
      this.#pop();
      if (this.#at.get(first.id) === first.at) due.push(first);
    }
    for (const one of due) this.#push(one);
    return due.map(({ id }) => id);
  }

  #rebuild(): void {
    this.#heap = [];
    for (const [id, at] of this.#at) this.#push({ id, at });
  }

  #push(one: { id: string; at: number }): void {
    const heap = this.#heap;
    let at = heap.length;
    for (; at > 0;) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.at <= one.at) break;
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
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
      if (heap[child]!.at >= last.at) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}
