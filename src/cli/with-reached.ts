// Work with somebody who was reached: what goes wrong is told in words, and the connection is closed in the end.
import type { Reach } from './command.ts';
import { errorWords } from './terminal/error-words.ts';
import type { Printer } from './terminal/print.ts';
import { reach } from './reach.ts';
import type { Reached } from './reach.ts';
import { untilSignal } from './signals.ts';

/** Resolves with the exit status. */
export function withReached(
  wanted: Reach,
  print: Printer,
  work: (reached: Reached) => Promise<number>,
): Promise<number> {
  return Promise.race([tryTo(wanted, print, work), untilSignal().then(() => 1)]);
}

async function tryTo(wanted: Reach, print: Printer, work: (reached: Reached) => Promise<number>): Promise<number> {
  let reached: Reached | undefined;
  try {
    reached = await reach(wanted, {}, print);
    return reached ? await work(reached) : 1;
  } catch (thrown) {
    print.problem(errorWords(thrown));
    return 1;
  } finally {
    await reached?.close();
  }
}
