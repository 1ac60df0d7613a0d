// Knows which body is running now. A body runs only in windows: a setImmediate callback opens one, and the next callback of the same batch
// closes it (ticks.ts). In between Node runs only the microtasks that the first callback caused, so everything that happens in a window
// belongs to that body. This costs nothing, unlike async_hooks.

/** The time and randomness of a body. */
export interface BodyEnvironment {
  readonly time: number;
  bytes(count: number): Buffer;
  /** Reports I/O outside of a step while the body is traced. True: the I/O must not happen. */
  onUnjournaled?(trespass: { what: string; where: string }): boolean;
}

let current: BodyEnvironment | undefined;

export function currentBody(): BodyEnvironment | undefined {
  return current;
}

export function openWindow(body: BodyEnvironment): void {
  current = body;
}

export function closeWindow(): void {
  current = undefined;
}

/** Runs work of the engine that must not count as the body's. */
export function runOutside<T>(work: () => T): T {
  const body = current;
  current = undefined;
  try {
    return work();
  } finally {
    current = body;
  }
}
