// Keeps progress rising across the rounds of a call, because they share one progress token.
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
