// Gives steps without effects a short time to finish before other questions are asked.
import { isBusy } from '../../engine/run-state.ts';
import type { AskState, RunState } from '../../engine/run-state.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import { unlessLate } from '../../../shared/timing.ts';
import type { SessionContext } from '../session-context.ts';

export interface GraceResult {
  /** Where the run stopped; undefined if steps still run. */
  quick: RunState | undefined;
  /** What is open besides the steps. */
  asked: AskState | undefined;
  next: Promise<RunState>;
}

export async function runInGrace(
  run: BodyRun,
  { clock, graceMs }: Pick<SessionContext, 'clock' | 'graceMs'>,
): Promise<GraceResult> {
  let [asked, isLate, next] = [undefined as AskState | undefined, false, run.next()];
  const unasked = async (): Promise<RunState> => {
    for (let rest = await next; ; rest = await next) {
      if (isLate || !isBusy(rest)) return rest;
      asked = rest;
      next = run.next();
    }
  };
  const quick = await unlessLate(unasked(), clock, graceMs);
  isLate = true;
  return { quick, asked, next };
}
