// Detects I/O of a body outside of steps: files, sockets, DNS, timers, child processes. A replay would repeat it and might get another result.
// 1. An async hook reports every operation that begins, and those that begin while a window is open belong to the body. The hook slows every
//    promise of the process, so in production at most one turn per second is traced (turn-runner.ts).
// 2. Async hooks do not report synchronous I/O, so those functions are replaced once per process.
import { createHook } from 'node:async_hooks';
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentBody } from './body-environment.ts';

export interface UnjournaledAccess {
  /** Node's name for it, such as `FSREQCALLBACK`. */
  what: string;
  /** The line in the author's code. */
  where: string;
}

/** Every body uses promises and microtasks. */
const HARMLESS = new Set(['PROMISE', 'TickObject', 'Microtask']);
const FRAMES = 50;
const PACKAGES = /[\\/]node_modules[\\/]/;
const OWN = new URL('.', import.meta.url).href;

const hook = createHook({
  init(_, type) {
    const body = currentBody();
    if (!body?.onUnjournaled || HARMLESS.has(type)) return;
    const frames = captureStack();
    // Debugging with console.log is allowed.
    if (frames.some((frame) => frame.includes('node:internal/console'))) return;
    body.onUnjournaled({ what: type, where: findAuthorFrame(frames) });
  },
});

let watching = 0;

/** Traces until the returned function is called. */
export function traceRun(): () => void {
  if (watching++ === 0) hook.enable();
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--watching === 0) hook.disable();
  };
}

function captureStack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = limit;
  return stack.split('\n').slice(1);
}

/** The line in the author's code, rather than in a package that it uses. */
function findAuthorFrame(frames: string[]): string {
  const foreign = frames.filter(isForeign);
  const frame = foreign.find((one) => !PACKAGES.test(one)) ?? foreign[0];
  return frame?.trim().replace(/^at /, '') ?? 'an unknown place';
}

function isForeign(frame: string): boolean {
  return (
    !frame.includes('node:') && !frame.includes(OWN) && !frame.includes(new URL(OWN).pathname) && /:\d+/.test(frame)
  );
}

const ALLOWED = ['node:internal/modules', 'node:internal/console'];

let installed = false;

/** In a body, functions such as `fs.readFileSync` throw before they act; elsewhere they work as before. Loading a module is allowed. */
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
  const body = currentBody();
  if (!body?.onUnjournaled) return;
  const frames = captureStack();
  if (frames.some((frame) => ALLOWED.some((allowed) => frame.includes(allowed)))) return;
  const isRefused = body.onUnjournaled({ what, where: findAuthorFrame(frames) });
  if (isRefused) throw new Error(`${what} outside of a step`);
}

/** The folder of Parley's code: `src/`, or `dist/` after the build. */
const OWN_FOLDER = toOwnFolder(fileURLToPath(import.meta.url));
/** `at name (place)`, or `at place`. */
const PLACE = /^\s*at (?:.* \((?<called>.*)\)|(?:async )?(?<bare>\S*))$/;
const LINE = /:\d+:\d+$/;

/** Path, line and column in the current or given stack; undefined if no frame is the author's. */
export function findAuthorLine(frames: readonly string[] = captureStack()): string | undefined {
  return frames.map(toPlace).find((place) => place !== undefined && !place.startsWith(OWN_FOLDER));
}

/** The author's line that created the error, or called the code that did. */
export function authorLineOf({ stack = '' }: Error): string | undefined {
  return findAuthorLine(stack.split('\n'));
}

function toPlace(frame: string): string | undefined {
  const { called, bare } = PLACE.exec(frame)?.groups ?? {};
  const place = called ?? bare ?? '';
  if (!LINE.test(place) || place.startsWith('node:')) return undefined;
  return place.startsWith('file://') ? toPath(place) : place;
}

function toPath(place: string): string {
  const [line = ''] = LINE.exec(place) ?? [];
  return fileURLToPath(place.slice(0, -line.length)) + line;
}

function toOwnFolder(file: string): string {
  const folders = ['src', 'dist'].map((name) => file.lastIndexOf(`${sep}${name}${sep}`) + name.length + 2);
  return file.slice(0, Math.max(...folders));
}
