// Keeps rejections of promises that foreign code has dropped from ending the process: those that an author forgets to await, and those of
// libraries. Zod tries a schema without waiting first, and drops the promise of an asynchronous rule when it then starts over: if the rule rejects,
// nobody can handle that promise.
import type { AsyncHook } from 'node:async_hooks';

let made: Promise<unknown>[] = [];
let depth = 0;
let hook: AsyncHook | undefined;

/** Node's module is loaded on first use: most programs have no such rules. */
function createHook(): AsyncHook {
  return process.getBuiltinModule('node:async_hooks').createHook({
    init(_, type, _trigger, resource) {
      if (type === 'PROMISE' && resource instanceof Promise) made.push(resource);
    },
  });
}

/** Runs foreign code. Its promises count as handled, also those that it does not return. Costs about two microseconds. */
export function withoutStrays<T>(work: () => T): T {
  hook ??= createHook();
  if (depth++ === 0) hook.enable();
  try {
    return work();
  } finally {
    if (depth > 0 && --depth === 0) {
      hook.disable();
      if (made.length > 0) absorb();
    }
  }
}

/** For a program that has ended such code in the middle, without its `finally`: otherwise every later promise would be kept. */
export function forgetStrays(): void {
  depth = 0;
  hook?.disable();
  absorb();
}

function absorb(): void {
  const strays = made;
  made = [];
  for (const stray of strays) stray.catch(() => {});
}

/** For what authors are given to await: one that they forget to await must not end the process when it rejects. */
export function droppable<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** For functions that must answer at once: returns the answer, and throws if it is a promise, whose rejection nobody would wait for. */
export function atOnce<T>(what: string, made: T): T {
  if (!(made instanceof Promise)) return made;
  made.catch(() => {});
  throw new TypeError(`${what} must answer at once, and has returned a promise`);
}
