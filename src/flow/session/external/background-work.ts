// What a drive needs once steps of it run here. Most turns come to their next question without any of it, so it is made when it is needed.
import type { Commits } from '../turn/commits.ts';
import type { TurnInput } from '../turn/turn-input.ts';
import { NextValue, TurnAnnouncer } from './turn-announcer.ts';
import { HolderWatch } from './holder-watch.ts';
import { RunningSteps } from './running-steps.ts';
import type { StepSignals } from './running-steps.ts';

/** How long somebody who ends a session waits until its effects are taken back. It goes on after that. */
export const ENDING_GRACE_MS = 2000;

export const CHANGED = Symbol('something was left');

export class BackgroundWork {
  readonly steps: RunningSteps;
  readonly told: TurnAnnouncer;
  /** Something was written down for this process. */
  readonly left = new NextValue<typeof CHANGED>();
  readonly lookout: HolderWatch;

  constructor(input: TurnInput, commits: Commits, signals: StepSignals) {
    this.steps = new RunningSteps(input, signals);
    this.told = new TurnAnnouncer(input);
    this.lookout = new HolderWatch(input, commits, () => this.left.tell(CHANGED));
  }
}
