// The one source of time, so that tests can move it by hand.
export interface Clock {
  now(): number;
  /** Milliseconds that only ever grow, whatever becomes of the time of day; default: `now`. */
  ticks?(): number;
  /** Calls back once after `ms`, without keeping the process alive. Returns the way to call it off. */
  after(ms: number, callback: () => void): () => void;
}

/** For spans of time: a time of day that is set forward must not end what has only just begun. */
export function ticksOf(clock: Clock): number {
  return clock.ticks?.() ?? clock.now();
}

/** Node's timers ring at once where they are set for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`, which is the same but loads ten parts of Node when it is first called.
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
