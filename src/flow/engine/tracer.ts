// Detects asynchronous I/O of a body outside of steps: files, sockets, DNS, timers, child processes. A replay would repeat it and might get
// another result. An async hook reports every operation that begins, and those that begin while a window is open belong to the body.
// The hook slows every promise of the process, so in production at most one run per second is traced.
import { createHook } from 'node:async_hooks';
import { currentBody } from './environment/window.ts';

export interface UnjournaledAccess {
  /** Node's name for it, such as `FSREQCALLBACK`. */
  what: string;
  /** The line in the author's code. */
  where: string;
}

interface Watched {
  checks?: 'throw' | 'warn' | 'off' | undefined;
  now: number;
}

/** Every body uses promises and microtasks. */
const HARMLESS = new Set(['PROMISE', 'TickObject', 'Microtask']);
const FRAMES = 50;
const SAMPLE_MS = 1000;
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
let lastSample = -Infinity;

/** Traces until the returned function is called. */
export function traceRun(run: Watched): () => void {
  if (!isWatched(run)) return () => {};
  if (watching++ === 0) hook.enable();
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--watching === 0) hook.disable();
  };
}

/** In production it samples by time, so that a busy process pays no more than an idle one. */
function isWatched({ checks = 'throw', now }: Watched): boolean {
  if (checks !== 'warn') return checks === 'throw';
  // `abs`, because a clock may be set back.
  if (Math.abs(now - lastSample) < SAMPLE_MS) return false;
  lastSample = now;
  return true;
}

export function captureStack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = limit;
  return stack.split('\n').slice(1);
}

/** The line in the author's code, rather than in a package that it uses. */
export function findAuthorFrame(frames: string[]): string {
  const foreign = frames.filter(isForeign);
  const frame = foreign.find((one) => !PACKAGES.test(one)) ?? foreign[0];
  return frame?.trim().replace(/^at /, '') ?? 'an unknown place';
}

function isForeign(frame: string): boolean {
  return (
    !frame.includes('node:') && !frame.includes(OWN) && !frame.includes(new URL(OWN).pathname) && /:\d+/.test(frame)
  );
}
