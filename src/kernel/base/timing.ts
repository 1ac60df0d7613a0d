// A promise against time or a signal, and pauses. Nothing leaves a timer or a listener behind, since a signal may live
// for hours.
import type { Abortable } from './cancellation.ts';
import type { Clock } from './clock.ts';
import { cancelledBy } from './cancelled-error.ts';

/** Calls back once: now, if the signal has aborted already. Returns a function that stops it. */
export function onAbort(signal: Abortable, callback: () => void): () => void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

/** Rejects as soon as the signal aborts, even if the work ignores it. */
export function rejectOnAbort<T>(work: Promise<T>, signal: Abortable | undefined, toReason: () => Error): Promise<T> {
  if (!signal) return work;
  return settleFirst(work, (_, reject) => onAbort(signal, () => reject(toReason())));
}

/** Undefined as soon as the signal aborts. */
export function unlessAborted<T>(work: Promise<T>, signal: Abortable): Promise<T | undefined> {
  return settleFirst<T | undefined>(work, (resolve) => onAbort(signal, () => resolve(undefined)));
}

/** Undefined if it takes longer. */
export function unlessLate<T>(work: Promise<T>, clock: Clock, ms: number): Promise<T | undefined> {
  return settleFirst<T | undefined>(work, (resolve) => clock.after(ms, () => resolve(undefined)));
}

/** Whether it settles in time. Never rejects, and keeps the process alive meanwhile: it is for the end of processes. */
export function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return settleFirst(settled, (resolve) => {
    const timer = setTimeout(resolve, ms, false);
    return () => clearTimeout(timer);
  });
}

/** Waits. False if the signal aborts before the time has passed. */
export async function pause(clock: Clock, ms: number, signal?: Abortable): Promise<boolean> {
  let stop = (): void => {};
  const passed = new Promise<boolean>((resolve) => (stop = clock.after(ms, () => resolve(true))));
  const isOver = await (signal ? unlessAborted(passed, signal) : passed);
  stop();
  return isOver ?? false;
}

/** Settles a promise that somebody else has opened. */
export interface Settlers<T> {
  resolve: (value: T) => void;
  reject: (reason: Error) => void;
}

/** A promise that is handed over by `begin`, for somebody else to settle. If the signal aborts first, it is taken back and rejects with CANCELLED. */
export function openPromise<T>(
  signal: Abortable | undefined,
  { begin, takeBack }: { begin: (by: Settlers<T>) => void; takeBack: () => void },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      takeBack();
      reject(cancelledBy(signal));
    };
    const stop = (): void => signal?.removeEventListener('abort', giveUp);
    signal?.addEventListener('abort', giveUp, { once: true });
    begin({ resolve: settler(resolve, stop), reject: settler(reject, stop) });
  });
}

function settler<V>(settle: (value: V) => void, callOff: () => void): (value: V) => void {
  return (value) => {
    callOff();
    settle(value);
  };
}

type Rival<T> = (resolve: (value: T) => void, reject: (reason: Error) => void) => () => void;

/** `rival` returns a function that calls it off. */
function settleFirst<T>(work: Promise<T>, rival: Rival<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = rival(resolve, reject);
    work.then(settler(resolve, callOff), settler(reject, callOff));
  });
}
