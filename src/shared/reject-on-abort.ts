// Rejects as soon as a signal aborts, even if the awaited work ignores it. Leaves no listener behind, since a signal
// may live for hours.
import type { Abortable } from './cancellation.ts';

export async function rejectOnAbort<T>(
  work: Promise<T>,
  signal: Abortable | undefined,
  toReason: () => Error,
): Promise<T> {
  if (!signal) return work;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(toReason());
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
