// What callers have open for as long as their key or token counts: it ends with that. When another login takes over, it goes on there for those
// whom that one lets in by the same proof, and ends for all others.
import type { Clock } from '../../../kernel/base/clock.ts';

interface Watch<P> {
  proof: P;
  list: WatchList<P>;
  readonly end: () => void;
}

export class WatchList<P> {
  readonly #clock: Clock;
  readonly #watches = new Set<Watch<P>>();
  #isOver = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  /** Calls `end` once. Returns what forgets it. */
  add(proof: P, end: () => void): () => void {
    if (this.#isOver) return this.#clock.after(0, end); // it was let in before the change, and opens only now
    const watch: Watch<P> = { proof, end, list: this };
    this.#watches.add(watch);
    return () => void watch.list.#watches.delete(watch);
  }

  endWhere(isOver: (proof: P) => boolean): void {
    for (const watch of this.#watches) if (isOver(watch.proof)) this.#end(watch);
  }

  /** `find`: the proof that the next login has in place of one of ours. */
  handOver(next: WatchList<P> | undefined, find: (proof: P) => P | undefined): void {
    this.#isOver = true;
    for (const watch of this.#watches) {
      const found = next && !next.#isOver ? find(watch.proof) : undefined;
      if (found === undefined) this.#end(watch);
      else next!.#take(watch, found);
    }
    this.#watches.clear();
  }

  /** Forgets all of them, and ends none: the process closes what is open. */
  clear(): void {
    this.#watches.clear();
  }

  #take(watch: Watch<P>, proof: P): void {
    watch.proof = proof;
    watch.list = this;
    this.#watches.add(watch);
  }

  #end(watch: Watch<P>): void {
    this.#watches.delete(watch);
    watch.end();
  }
}
