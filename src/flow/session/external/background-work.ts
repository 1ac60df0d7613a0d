// The parts of a TurnRunner that are needed while steps run. Most turns need none of them, so they are created on demand.
import type { Commits } from '../turn/commits.ts';
import type { TurnInput } from '../turn/turn-input.ts';
import { NextValue, TurnAnnouncer } from './turn-announcer.ts';
import { HolderWatch } from './holder-watch.ts';
import { RunningSteps } from './running-steps.ts';
import type { StepSignals } from './running-steps.ts';

/** How long a request that ends a session waits for the undos, which continue after it. */
export const ENDING_GRACE_MS = 2000;

export const CHANGED = Symbol('the session was changed');

export class BackgroundWork {
  readonly steps: RunningSteps;
  readonly told: TurnAnnouncer;
  /** Another process has written entries for this one. */
  readonly left = new NextValue<typeof CHANGED>();
  readonly lookout: HolderWatch;

  constructor(input: TurnInput, commits: Commits, signals: StepSignals) {
    this.steps = new RunningSteps(input, signals);
    this.told = new TurnAnnouncer(input.host);
    this.lookout = new HolderWatch(input, commits, () => this.left.tell(CHANGED));
  }
}
