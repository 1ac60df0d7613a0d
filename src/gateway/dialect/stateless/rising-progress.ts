// A client's token spans all rounds of a call: what a later round has to tell must not fall behind an earlier one.
import type { Progress } from '../../../protocol/exchange.ts';

export interface Rising {
  readonly tell: (progress: Progress) => void;
  nextRound(): void;
}

export function rising(tell: (progress: Progress) => void): Rising {
  let [highest, floor] = [-Infinity, -Infinity];
  return {
    tell(progress) {
      if (progress.progress <= floor) return;
      highest = Math.max(highest, progress.progress);
      tell(progress);
    },
    nextRound() {
      floor = highest;
    },
  };
}
