// Work that can wait is done in slots, one at a time for the whole process, with a rest after each that is a multiple of the time that it
// took. So all of it together takes a small share of the processor, however much there is, and what others wait for goes first.
import { systemClock, ticksOf } from '../../shared/clock.ts';

/** The rest after a slot, as a multiple of its time. */
const REST = 4;
const SHORTEST_MS = 1;
/** A busy machine makes a slot look long. */
const LONGEST_MS = 20;

const waiting: (() => void)[] = [];
let restMs = SHORTEST_MS;
let isScheduled = false;

/** Calls back when its slot has come. A slot should take a fraction of a millisecond. */
export function waitForSlot(work: () => void): void {
  waiting.push(work);
  schedule();
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  // It keeps the process alive: a source that is paused would not.
  setTimeout(takeSlot, restMs);
}

function takeSlot(): void {
  const begun = ticksOf(systemClock);
  try {
    waiting.shift()?.();
  } finally {
    restMs = Math.min(Math.max((ticksOf(systemClock) - begun) * REST, SHORTEST_MS), LONGEST_MS);
    isScheduled = false;
    schedule();
  }
}
