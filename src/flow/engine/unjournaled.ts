// Detects I/O of a body outside of steps: files, sockets, DNS, timers, child processes. A replay would repeat it and might get another result.
// 1. An async hook reports every operation that begins, and those that begin while a window is open belong to the body. The hook slows every
//    promise of the process, so in production at most one turn per second is traced (turn-runner.ts).
// 2. Async hooks do not report synchronous I/O, so those functions are replaced once per process; nor requests on open connections
//    (network-checks.ts).
// Also finds the line of the author's code in a stack, for what is reported and for other mistakes.
import { createHook } from 'node:async_hooks';
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { captureStack, findAuthorFrame } from './author-line.ts';
import { currentBody } from './body-environment.ts';
import { installNetworkChecks, subscribeToRequests } from './network-checks.ts';

export interface UnjournaledAccess {
  /** Node's name for it, such as `FSREQCALLBACK`. */
  what: string;
  /** The line in the author's code. */
  where: string;
}

/** Every body uses promises and microtasks. */
const HARMLESS = new Set(['PROMISE', 'TickObject', 'Microtask']);

const hook = createHook({
  init(_, type) {
    const body = currentBody();
    if (!body?.onUnjournaled || HARMLESS.has(type)) return;
    const frames = captureStack();
    // Debugging with console.log is allowed.
    if (frames.some((frame) => frame.includes('node:internal/console'))) return;
    body.onUnjournaled({ what: type, where: describePlace(frames) });
  },
});

let watching = 0;

/** Traces until the returned function is called. */
export function traceRun(): () => void {
  subscribeToRequests(report);
  if (watching++ === 0) hook.enable();
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--watching === 0) hook.disable();
  };
}

function describePlace(frames: readonly string[]): string {
  return findAuthorFrame(frames)?.trim().replace(/^at /, '') ?? 'an unknown place';
}

const ALLOWED = ['node:internal/modules', 'node:internal/console'];

let installed = false;

/** In a body, functions such as `fs.readFileSync` and `fetch` fail before they act; elsewhere they work as before. Loading a module is allowed. */
export function installSyncChecks(): void {
  if (installed) return;
  installed = true;
  for (const [module, name] of [
    [fs, 'fs'],
    [childProcess, 'child_process'],
  ] as const) {
    for (const key of Object.keys(module)) if (key.endsWith('Sync')) replace(module, key, `${name}.${key}`);
  }
  syncBuiltinESMExports();
  installNetworkChecks(report);
}

function replace(module: object, key: string, what: string): void {
  const original: unknown = Reflect.get(module, key);
  if (typeof original !== 'function') return; // not on this platform
  const checked = function (this: unknown, ...given: unknown[]): unknown {
    refuse(what);
    return Reflect.apply(original, this, given);
  };
  // Keep properties such as `realpathSync.native`.
  Object.defineProperties(checked, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(module, key, { ...Object.getOwnPropertyDescriptor(module, key), value: checked });
}

function refuse(what: string): void {
  if (report(what)) throw new Error(`${what} outside of a step`);
}

/** True if it must not happen. */
function report(what: string): boolean {
  const body = currentBody();
  if (!body?.onUnjournaled) return false;
  const frames = captureStack();
  if (frames.some((frame) => ALLOWED.some((allowed) => frame.includes(allowed)))) return false;
  return body.onUnjournaled({ what, where: describePlace(frames) });
}
