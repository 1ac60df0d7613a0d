// Why a run came to rest.
import type { AskWant, StepWant, WaitWant } from './want.ts';

export type Rest =
  | { kind: 'ended'; value: unknown }
  | { kind: 'failed'; error: unknown }
  /** Steps that are to be started before it goes on, and what is open beside them. */
  | { kind: 'steps'; steps: StepWant[]; asks: AskWant[]; waits: WaitWant[] }
  /** An effect is done while other steps still run: it should be written down now. */
  | { kind: 'save' }
  /** It waits for answers, or for what happens by itself. `isBusy`: steps are in flight meanwhile. */
  | { kind: 'asks'; asks: AskWant[]; waits: WaitWant[]; isBusy: boolean };

export type Outcome = Extract<Rest, { kind: 'ended' | 'failed' }>;
export type Asking = Extract<Rest, { kind: 'asks' }>;

/** Something is to be started, or to be written down, before it goes on. */
export function isAtWork({ kind }: Rest): boolean {
  return kind === 'steps' || kind === 'save';
}

/** It asks while steps run. */
export function isBusy(rest: Rest): rest is Asking & { isBusy: true } {
  return rest.kind === 'asks' && rest.isBusy;
}
