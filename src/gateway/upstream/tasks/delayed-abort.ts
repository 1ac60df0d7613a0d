// Delays the cancellation of a call that may create a task. Without the delay the server might create a task whose id is never
// learned, so that it could not be cancelled.
import { Cancellation } from '../../../shared/cancellation.ts';
import type { Abortable } from '../../../shared/cancellation.ts';
import type { Clock } from '../../../shared/clock.ts';
import { onAbort } from '../../../shared/timing.ts';

const A_WHILE_MS = 1000;

/** Call `end` when the call is over. */
export interface DelayedAbort {
  readonly signal: Abortable;
  end: () => void;
}

export function delayAbort(signal: Abortable, clock: Clock): DelayedAbort {
  const late = new Cancellation();
  let stop = (): void => {};
  const stopListening = onAbort(signal, () => {
    stop = clock.after(A_WHILE_MS, () => late.abort(signal.reason));
  });
  const end = (): void => {
    stop();
    stopListening();
  };
  return { signal: late, end };
}
