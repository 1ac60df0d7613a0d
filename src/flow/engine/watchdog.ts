// Ends a body that never lets go of the thread, such as `for (;;) await Promise.resolve()` or `while (true) {}`, so that it does not hold up
// everybody else's sessions. A thread of its own watches the windows (body-environment.ts); docs/decisions/0049-endless-bodies.md has the reasons.
// 1. A body runs only in microtasks of its window, so V8 can end them and nothing else is lost: they are all the body's.
// 2. Waiting costs nothing: a window is one number in shared memory. The debugger is connected only when a body has been at work for too long.
// 3. It never acts while a debugger is attached, or where the process could not be put in order afterwards; then it only reports the line.
import { pathToFileURL } from 'node:url';
import type { MessagePort, Worker } from 'node:worker_threads';
import { GatewayError } from '../../kernel/base/errors.ts';
import { forgetStrays } from '../../kernel/base/stray-promises.ts';
import { OWN_FOLDER } from './author-line.ts';
import { WATCHDOG_CODE } from './watchdog-thread.ts';

/** How long a body may run without letting go. All other sessions wait meanwhile, and they must not wait for a second. */
const BODY_MS = 400;

/** The cells of the shared memory; the thread has the same numbers. */
const [OPEN, ENDED, AWAKE, MODE] = [0, 1, 2, 3] as const;
/** What the thread may do. */
const [IGNORE, REPORT, END] = [0, 1, 2] as const;

const cells = new Int32Array(new SharedArrayBuffer(16));
let serial = 0;
let reports: MessagePort | undefined;
let isStarted = false;
let isOff = false;

/** A body begins to run. */
export function watchWindow(): void {
  serial = serial >= 2_000_000_000 ? 1 : serial + 1;
  cells[OPEN] = serial;
  if (cells[AWAKE] === 0 && isStarted) wake();
}

export function unwatchWindow(): void {
  cells[OPEN] = 0;
}

/** For a process that may have no threads, and has a time limit of its own: the sandbox of `parley explore` and `parley flows replay`. */
export function disableWatchdog(): void {
  isOff = true;
}

/** After some seconds without sessions. */
function wake(): void {
  cells[MODE] = toMode();
  Atomics.store(cells, AWAKE, 1);
  Atomics.notify(cells, AWAKE);
}

/** Starts the thread, once in a process; without one where there can be none. */
export function startWatchdog(): void {
  if (isStarted || isOff) return;
  isStarted = true;
  cells[MODE] = toMode();
  const { Worker, MessageChannel, isMainThread } = process.getBuiltinModule('node:worker_threads');
  if (!isMainThread || process.versions['bun'] !== undefined) return;
  Object.defineProperty(globalThis, Symbol.for('parley.watchdog'), { value: holdPromises, configurable: true });
  const { port1, port2 } = new MessageChannel();
  port1.unref();
  reports = port1;
  const workerData = { cells, reports: port2, limitMs: BODY_MS, own: [OWN_FOLDER, pathToFileURL(OWN_FOLDER).href] };
  try {
    const options = { eval: true, execArgv: [], env: {}, workerData, transferList: [port2], name: 'parley-watchdog' };
    whenever(new Worker(WATCHDOG_CODE, options));
  } catch {
    reports = undefined; // threads are not permitted here
  }
}

/** It must neither keep the process alive nor end it. */
function whenever(worker: Worker): void {
  worker.unref();
  worker.on('error', () => (reports = undefined));
}

/** After its end, the body's async ids must be cleared, which Node does only for an uncaught exception that a callback of ours has taken. */
function toMode(): number {
  if (process.getBuiltinModule('node:inspector').url() !== undefined) return IGNORE;
  return process.hasUncaughtExceptionCaptureCallback() ? REPORT : END;
}

export interface EndedBody {
  error: GatewayError;
  /** V8 has ended it in the middle, so the caller must call `clearAsyncIds` last. */
  isTorn: boolean;
}

/** Present if the thread has ended what ran in the last window. */
export function takeEnded(): EndedBody | undefined {
  const isTorn = cells[ENDED] !== 0;
  if (!isTorn && !letGo) return undefined;
  Atomics.store(cells, ENDED, 0);
  letGo?.();
  if (isTorn) forgetStrays();
  if (isHolding) process.setUncaughtExceptionCaptureCallback(null);
  isHolding = false;
  const { receiveMessageOnPort } = process.getBuiltinModule('node:worker_threads');
  const { message: frames = [] } = (reports && receiveMessageOnPort(reports)) ?? {};
  const cause = new Error('The body was here');
  cause.stack = [`Error: ${cause.message}`, ...(frames as string[])].join('\n');
  const reason = `its body ran for ${BODY_MS} ms without waiting for an answer or a step; end its loops, and do long work in ask.step`;
  return { error: new GatewayError('FLOW_MISUSED', { reason }, { cause }), isTorn };
}

/** Undoes `holdPromises`. */
let letGo: (() => void) | undefined;

/**
 * Called by the thread while the body is paused: what the body awaits from now on never settles, and a rejection counts as handled. So a loop
 * of promises comes to rest by itself. Everything is as before when the window closes.
 */
function holdPromises(): void {
  if (letGo) return holdExceptions();
  const prototype: object = Promise.prototype;
  const [THEN, CONSTRUCTOR] = ['then', 'constructor'] as const;
  const own = Object.getOwnPropertyDescriptors(prototype) as Record<string, PropertyDescriptor>;
  const [then, constructor] = [own[THEN]!, own[CONSTRUCTOR]!];
  const ignore = (): void => {};
  // A promise of another constructor is awaited by its `then`.
  Object.defineProperty(prototype, CONSTRUCTOR, { configurable: true, get: () => Object });
  const value = function held(this: unknown): Promise<never> {
    Reflect.apply(then.value as () => unknown, this, [ignore, ignore]);
    return new Promise(ignore);
  };
  Object.defineProperty(prototype, THEN, { ...then, value });
  letGo = () => {
    Object.defineProperty(prototype, THEN, then);
    Object.defineProperty(prototype, CONSTRUCTOR, constructor);
    letGo = undefined;
  };
}

let isHolding = false;

/** The second call, before V8 ends the body: if that happens in a hook of Node's, Node takes it for an exception of the program. */
function holdExceptions(): void {
  if (isHolding || process.hasUncaughtExceptionCaptureCallback()) return;
  process.setUncaughtExceptionCaptureCallback(() => {});
  isHolding = true;
}

const CLEARED = new Error('the ids of a body that was ended are cleared');

/** Throws to Node itself, so it must be called in a callback of Node's, with nothing to do after it. */
export function clearAsyncIds(): void {
  try {
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null));
  } catch {
    return; // another callback is in place since the body began
  }
  throw CLEARED;
}
