// The only source of time, so that tests can control it.
export interface Clock {
  now(): number;
  /** Monotonic milliseconds. Default: `now`. */
  ticks?(): number;
  /** Calls back once after `ms`, without keeping the process alive. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** For durations, so that a changed system time does not end what has just begun. */
export function ticksOf(clock: Clock): number {
  return clock.ticks?.() ?? clock.now();
}

/** Node's timers fire at once above this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`, which loads ten modules of Node on its first call.
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
