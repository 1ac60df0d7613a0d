// Steps that only read have a moment to come to their end before anything is asked beside them.
import { isBusy } from '../../engine/rest.ts';
import type { Asking, Rest } from '../../engine/rest.ts';
import type { Run } from '../../engine/run.ts';
import { orLate } from '../or-aborted.ts';
import type { Setup } from '../setup.ts';

export interface Grace {
  /** Where it has come to; undefined if steps still run. */
  quick: Rest | undefined;
  /** What is open beside them. */
  asked: Asking | undefined;
  next: Promise<Rest>;
}

export async function inGrace(run: Run, { clock, graceMs }: Pick<Setup, 'clock' | 'graceMs'>): Promise<Grace> {
  let [asked, isLate, next] = [undefined as Asking | undefined, false, run.next()];
  const unasked = async (): Promise<Rest> => {
    for (let rest = await next; ; rest = await next) {
      if (isLate || !isBusy(rest)) return rest;
      asked = rest;
      next = run.next();
    }
  };
  const quick = await orLate(unasked(), clock, graceMs);
  isLate = true;
  return { quick, asked, next };
}
