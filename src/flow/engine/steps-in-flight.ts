// The steps of one run that have begun: how many run, which have finished and wait for the body to be quiet, and what is not committed yet.
import type { StepEntry } from '../journal.ts';
import type { PendingStep } from './pending-ask.ts';

export interface FinishedStep {
  pending: PendingStep;
  entry: StepEntry;
}

export class StepsInFlight {
  /** How many run. */
  count = 0;
  /** The running effects that can be undone. */
  undoable = 0;
  /** An effect has finished whose result is not committed. */
  isUnsaved = false;
  readonly #finished: FinishedStep[] = [];

  begin(pending: PendingStep): void {
    pending.started = true;
    this.count++;
    if (pending.spec.options.undo) this.undoable++;
  }

  finish(pending: PendingStep, entry: StepEntry): void {
    this.count--;
    if (pending.spec.options.undo) this.undoable--;
    this.#finished.push({ pending, entry });
  }

  get hasFinished(): boolean {
    return this.#finished.length > 0;
  }

  /** The first one that has finished and was not taken yet. */
  take(): FinishedStep | undefined {
    return this.#finished.shift();
  }
}
