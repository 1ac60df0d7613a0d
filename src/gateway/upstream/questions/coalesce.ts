// Questions that a server asks at once come one by one over the wire. Where they travel on in rounds, those that follow each
// other closely belong into one.
import type { Clock } from '../../../shared/clock.ts';
import type { AskHandler } from './ask-routing.ts';

/** Matrix §4.2: long enough for what was written together, short enough not to be felt. */
const TOGETHER_MS = 40;

export function coalesce(put: AskHandler, clock: Clock): AskHandler {
  let gate: Promise<void> | undefined;
  return async (ask, signal) => {
    gate ??= new Promise((resolve) => {
      clock.after(TOGETHER_MS, () => {
        gate = undefined;
        resolve();
      });
    });
    await gate;
    return put(ask, signal);
  };
}
