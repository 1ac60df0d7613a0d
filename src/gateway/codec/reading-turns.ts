// Large messages are read in turns, one chunk in each round of the event loop. Node would read up to two megabytes of each connection
// before it looks at the next one, and small requests would wait for all of that.

/** Bytes of a message that are read without waiting for a turn. */
export const BYTES_BEFORE_TURNS: number = 512 * 1024;

interface Source {
  pause(): unknown;
  resume(): unknown;
}

const waiting: Source[] = [];

/** Pauses the source until its next turn. Call it after each chunk. */
export function waitForTurn(source: Source): void {
  source.pause();
  if (waiting.push(source) === 1) setImmediate(startRound);
}

function startRound(): void {
  waiting.shift()?.resume();
  if (waiting.length > 0) setImmediate(startRound);
}
