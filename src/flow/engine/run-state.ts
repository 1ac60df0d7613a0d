// The states in which a run stops and returns to its caller.
import type { PendingQuestion, PendingStep, PendingWait } from './pending-ask.ts';

export type RunState =
  | { kind: 'ended'; value: unknown }
  | { kind: 'failed'; error: unknown }
  /** Steps to start, and the questions and waits that are open besides. */
  | { kind: 'steps'; steps: PendingStep[]; asks: PendingQuestion[]; waits: PendingWait[] }
  /** An effect has finished while other steps still run, and should be committed now. */
  | { kind: 'save' }
  /** It waits for answers, sleeps or events. `isBusy`: steps are still running. */
  | { kind: 'asks'; asks: PendingQuestion[]; waits: PendingWait[]; isBusy: boolean };

export type RunEnd = Extract<RunState, { kind: 'ended' | 'failed' }>;
export type AskState = Extract<RunState, { kind: 'asks' }>;

/** The caller must start steps or commit before the run continues. */
export function hasWork({ kind }: RunState): boolean {
  return kind === 'steps' || kind === 'save';
}

/** Questions or waits are open while steps run. */
export function isBusy(rest: RunState): rest is AskState & { isBusy: true } {
  return rest.kind === 'asks' && rest.isBusy;
}
