// Catches a body that reaches out by itself: files, sockets, names, timers, child processes. It would do so again in every turn, and
// get another answer each time. Node tells of everything asynchronous that begins; what begins while a window is open is the body's.
// Costs every promise of the process while a run is watched, so in production that is one run in a second at most.
import { createHook } from 'node:async_hooks';
import { currentBody } from './environment/window.ts';

export interface UnjournaledAccess {
  /** What Node calls it, such as `FSREQCALLBACK`. */
  what: string;
  /** The author's own line. */
  where: string;
}

interface Watched {
  checks?: 'throw' | 'warn' | 'off' | undefined;
  now: number;
}

/** Promises and microtasks are what a body is made of. */
const HARMLESS = new Set(['PROMISE', 'TickObject', 'Microtask']);
const FRAMES = 50;
const SAMPLE_MS = 1000;
const OWN = new URL('.', import.meta.url).href;

const hook = createHook({
  init(_, type) {
    const body = currentBody();
    if (!body?.onUnjournaled || HARMLESS.has(type)) return;
    const frames = captureStack();
    // Whoever looks for a mistake with console.log must not be told that this is one.
    if (frames.some((frame) => frame.includes('node:internal/console'))) return;
    body.onUnjournaled({ what: type, where: findAuthorFrame(frames) });
  },
});

let watching = 0;
let lastSample = -Infinity;

/** Until the returned function is called. */
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

/** In production a sample: by time, so that a busy process pays no more for it than an idle one. */
function isWatched({ checks = 'throw', now }: Watched): boolean {
  if (checks !== 'warn') return checks === 'throw';
  // A clock that was set back must not end it.
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

/** The author's own line. */
export function findAuthorFrame(frames: string[]): string {
  return frames.find(isForeign)?.trim().replace(/^at /, '') ?? 'an unknown place';
}

function isForeign(frame: string): boolean {
  return (
    !frame.includes('node:') && !frame.includes(OWN) && !frame.includes(new URL(OWN).pathname) && /:\d+/.test(frame)
  );
}
