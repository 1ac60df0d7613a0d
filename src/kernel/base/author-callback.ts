// Callbacks of the program that embeds Parley for which nobody waits: an audit sink, a store of events, pages of its own. What such a function throws,
// at once or later, is logged, and ends neither the request that it belongs to nor the process.
import { toReadable } from './errors.ts';
import type { Log } from './log.ts';

/** The callback, made harmless. `what` names it in the log. */
export function toSafeCallback<A extends unknown[]>(
  callback: (...given: A) => unknown,
  what: string,
  log: Log,
): (...given: A) => void {
  const fail = logFailure(what, log);
  return (...given) => callSafely(() => callback(...given), fail);
}

/** Calls a function whose result is of no interest. `onFailure` gets what it throws, at once or later. */
export function callSafely(work: () => unknown, onFailure: (thrown: unknown) => void): void {
  try {
    const made = work();
    if (made instanceof Promise) made.catch(onFailure);
  } catch (thrown) {
    onFailure(thrown);
  }
}

/** What the function returns at once, or `otherwise` if it throws or returns a promise. */
export function readSafely<T>(read: () => T, otherwise: T, onFailure: (thrown: unknown) => void): T {
  try {
    const made = read();
    if (!(made instanceof Promise)) return made;
    made.catch(onFailure);
    onFailure(new TypeError('It must answer at once, and has returned a promise'));
  } catch (thrown) {
    onFailure(thrown);
  }
  return otherwise;
}

function logFailure(what: string, log: Log): (error: unknown) => void {
  return (error) => log.error({ callback: what, error: toReadable(error) }, 'callback.failed');
}
