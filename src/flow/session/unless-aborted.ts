// Waits for a promise, but resolves to undefined when a signal aborts, or time runs out, first.
import type { Clock } from '../../shared/clock.ts';

export function unlessAborted<T>(coming: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    coming.then(resolve, reject);
  });
}

export async function unlessLate<T>(coming: Promise<T>, clock: Clock, ms: number): Promise<T | undefined> {
  let off = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    off = clock.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([coming, late]);
  } finally {
    off();
  }
}

/** An AbortController that is created on first use, because most signals are never read. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #aborted = false;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
