// Why a run came to rest.
import type { AskWant, StepWant } from './want.ts';

export type Rest =
  | { kind: 'ended'; value: unknown }
  | { kind: 'failed'; error: unknown }
  /** Steps that are to be started before it goes on. */
  | { kind: 'steps'; steps: StepWant[] }
  /** An effect is done while other steps still run: it should be written down now. */
  | { kind: 'save' }
  | { kind: 'asks'; asks: AskWant[] };

export type Outcome = Extract<Rest, { kind: 'ended' | 'failed' }>;

/** Something is to be started, or to be written down, before it goes on. */
export function isAtWork({ kind }: Rest): boolean {
  return kind === 'steps' || kind === 'save';
}
