// What comes, or undefined if it is called off first.
export function orAborted<T>(coming: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    void coming.then(resolve);
  });
}
