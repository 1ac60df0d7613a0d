// A client's token spans all rounds of a call: what a later round has to tell must not fall behind an earlier one.
import type { Progress } from '../../../protocol/exchange.ts';

export class RisingProgress {
  readonly #tell: (progress: Progress) => void;
  #highest = -Infinity;
  #floor = -Infinity;

  constructor(tell: (progress: Progress) => void) {
    this.#tell = tell;
  }

  tell(progress: Progress): void {
    if (progress.progress <= this.#floor) return;
    this.#highest = Math.max(this.#highest, progress.progress);
    this.#tell(progress);
  }

  nextRound(): void {
    this.#floor = this.#highest;
  }
}
