// Catches a body that reaches out by itself: files, sockets, names, timers, child processes. It would do so again in every turn, and
// get another answer each time. Node tells of everything asynchronous that begins; what begins while a window is open is the body's.
// Costs every promise of the process a little, so in production only now and then a run is watched.
import { createHook } from 'node:async_hooks';
import { inside } from './window.ts';

export interface Trespass {
  /** What Node calls it, such as `FSREQCALLBACK`. */
  what: string;
  /** The author's own line. */
  where: string;
}

/** Promises and microtasks are what a body is made of. */
const HARMLESS = new Set(['PROMISE', 'TickObject', 'Microtask']);
const FRAMES = 50;
const SAMPLE = 100;
const OWN = new URL('.', import.meta.url).href;

const hook = createHook({
  init(_, type) {
    const body = inside();
    if (!body?.onTrespass || HARMLESS.has(type)) return;
    const frames = stack();
    // Whoever looks for a mistake with console.log must not be told that this is one.
    if (frames.some((frame) => frame.includes('node:internal/console'))) return;
    body.onTrespass({ what: type, where: frames.find(isForeign)?.trim().replace(/^at /, '') ?? 'an unknown place' });
  },
});

let watching = 0;
let runs = 0;

/** In production one run of a hundred. */
export function isWatched(checks: 'throw' | 'warn' | 'off' = 'throw'): boolean {
  return checks === 'throw' || (checks === 'warn' && runs++ % SAMPLE === 0);
}

/** Until the returned function is called. */
export function watch(): () => void {
  if (watching++ === 0) hook.enable();
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--watching === 0) hook.disable();
  };
}

function stack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = limit;
  return stack.split('\n').slice(1);
}

function isForeign(frame: string): boolean {
  return (
    !frame.includes('node:') && !frame.includes(OWN) && !frame.includes(new URL(OWN).pathname) && /:\d+/.test(frame)
  );
}
