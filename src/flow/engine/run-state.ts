// Why a run came to rest.
import type { PendingQuestion, PendingStep, PendingWait } from './pending-ask.ts';

export type RunState =
  | { kind: 'ended'; value: unknown }
  | { kind: 'failed'; error: unknown }
  /** Steps that are to be started before it goes on, and what is open beside them. */
  | { kind: 'steps'; steps: PendingStep[]; asks: PendingQuestion[]; waits: PendingWait[] }
  /** An effect is done while other steps still run: it should be written down now. */
  | { kind: 'save' }
  /** It waits for answers, or for what happens by itself. `isBusy`: steps are in flight meanwhile. */
  | { kind: 'asks'; asks: PendingQuestion[]; waits: PendingWait[]; isBusy: boolean };

export type RunEnd = Extract<RunState, { kind: 'ended' | 'failed' }>;
export type AskState = Extract<RunState, { kind: 'asks' }>;

/** Something is to be started, or to be written down, before it goes on. */
export function hasWork({ kind }: RunState): boolean {
  return kind === 'steps' || kind === 'save';
}

/** It asks while steps run. */
export function isBusy(rest: RunState): rest is AskState & { isBusy: true } {
  return rest.kind === 'asks' && rest.isBusy;
}
