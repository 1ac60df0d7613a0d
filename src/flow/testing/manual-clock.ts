// A clock that moves only by hand.
import type { Clock } from '../../kernel/base/clock.ts';

export interface ManualClock extends Clock {
  /** Moves the time forward and runs the due callbacks in order. */
  move(ms: number): void;
}

/**
 * A clock that stands still until it is moved.
 *
 * @example
 * ```ts
 * import { flow } from 'mcp-parley/flow';
 * import { manualClock, testFlow } from 'mcp-parley/testing';
 *
 * const tea = flow({ name: 'tea' }, async (ask) => ask.sleep('steep', '4m'));
 * const clock = manualClock(0);
 * await testFlow(tea, {}, { clock }).answer({});
 * console.log(clock.now()); // 240000
 * ```
 */
export function manualClock(now = 1_790_000_000_000): ManualClock {
  let time = now;
  const waiting = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => time,
    after(ms, callback) {
      const one = { at: time + ms, callback };
      waiting.add(one);
      return () => void waiting.delete(one);
    },
    move(ms) {
      time += ms;
      const due = [...waiting].filter(({ at }) => at <= time).sort((a, b) => a.at - b.at);
      for (const one of due) {
        waiting.delete(one);
        one.callback();
      }
    },
  };
}
