// A number of places that all may use, such as connections of a port. When all are taken, the one who has most of them gives one up, its oldest, to
// somebody who has fewer; so nobody can keep others out.

export class FairShares {
  readonly #max: number;
  /** What each has, oldest first, with how to end it. */
  readonly #owners = new Map<string, Set<() => void>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** Undefined if there is no place left for this one. Else call what it returns when the place is free again; `end` must do so, too. */
  take(owner: string, end: () => void): (() => void) | undefined {
    if (this.#size >= this.#max && !this.#makeRoom(owner)) return undefined;
    const own = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, own.add(end));
    this.#size++;
    return () => {
      if (!own.delete(end)) return;
      this.#size--;
      if (own.size === 0 && this.#owners.get(owner) === own) this.#owners.delete(owner);
    };
  }

  endAll(): void {
    for (const own of this.#owners.values()) for (const end of own) end();
  }

  #makeRoom(owner: string): boolean {
    let most = this.#owners.get(owner) ?? new Set();
    const wanted = most.size + 1;
    for (const own of this.#owners.values()) if (own.size > most.size) most = own;
    if (most.size <= wanted) return false;
    const [oldest] = most;
    oldest!();
    return this.#size < this.#max;
  }
}
