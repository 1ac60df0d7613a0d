// What a drive needs once steps of it run here. Most turns come to their next question without any of it, so it is made when it is needed.
import type { Commits } from '../turn/commits.ts';
import type { DriveInput } from '../turn/drive-input.ts';
import { Ahead, ToldTurns } from './ahead.ts';
import { Lookout } from './lookout.ts';
import { WorkingSteps } from './working.ts';
import type { StepSignals } from './working.ts';

/** How long somebody who ends a session waits until its effects are taken back. It goes on after that. */
export const ENDING_GRACE_MS = 2000;

export const LEFT = Symbol('something was left');

export class AtWork {
  readonly steps: WorkingSteps;
  readonly told: ToldTurns;
  /** Something was written down for this process. */
  readonly left = new Ahead<typeof LEFT>();
  readonly lookout: Lookout;

  constructor(input: DriveInput, commits: Commits, signals: StepSignals) {
    this.steps = new WorkingSteps(input, signals);
    this.told = new ToldTurns(input);
    this.lookout = new Lookout(input, commits, () => this.left.tell(LEFT));
  }
}
