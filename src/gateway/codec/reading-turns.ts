// Large messages are read in turns, a part of one in each round of the event loop. Node would read up to two megabytes of each connection
// before it looks at the next one, and small requests would wait for all of that.

/** Bytes of a message that are read without waiting for a turn. */
const BYTES_BEFORE_TURNS = 512 * 1024;
/** What is read in a turn. Shorter ones would make a message that is alone slower. */
const TURN_BYTES = 256 * 1024;

interface Source {
  pause(): unknown;
  resume(): unknown;
}

const waiting: { source: Source; bytes: number }[] = [];
let isScheduled = false;

/** Call it after each chunk, with the bytes of the message so far: pauses the source until its next turn, if this one is over. */
export function readInTurns(source: Source, bytes: number, chunkBytes: number): void {
  if (bytes <= BYTES_BEFORE_TURNS || bytes % TURN_BYTES >= chunkBytes) return;
  source.pause();
  waiting.push({ source, bytes });
  schedule();
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(giveTurn);
}

/** To the longest: if all of them grew side by side, they would need the most memory, and all be late. */
function giveTurn(): void {
  isScheduled = false;
  let next = 0;
  for (const [index, { bytes }] of waiting.entries()) if (bytes > waiting[next]!.bytes) next = index;
  const [longest] = waiting.splice(next, 1);
  longest?.source.resume(); // it may wait for its next turn at once
  schedule();
}
