// Whose body is running at this moment. A body runs only in its windows: one is opened in a callback of setImmediate, and the
// next callback of the same batch closes it. In between Node runs nothing but the microtasks that the first one caused, so
// whatever happens while a window is open is done by that body, and by nobody else. This costs nothing, unlike following the
// body through every promise, and leaves the rest of the process alone. ticks.ts makes the callbacks.

/** What the world looks like from inside a body. */
export interface BodyEnvironment {
  readonly time: number;
  bytes(count: number): Buffer;
  /** Is told of what the body begins by itself, while it is watched. True: it must not be done. */
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

/** For what the engine does on behalf of a body that is running. */
export function runOutside<T>(work: () => T): T {
  const body = current;
  current = undefined;
  try {
    return work();
  } finally {
    current = body;
  }
}
