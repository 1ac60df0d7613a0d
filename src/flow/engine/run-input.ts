// What a run is given.
import type { AnyFlow } from '../define.ts';
import type { Folded } from '../fold.ts';
import type { Incoming } from './fit.ts';

export interface RunInput {
  flow: AnyFlow;
  folded: Folded;
  sessionId: string;
  locale?: string | undefined;
  /** Answers that have just come, in the order in which they came. */
  incoming: Incoming[];
  /** The time of what is written down now. */
  now: number;
  /** The body waits for something that is neither a question nor a step. */
  onStall?: (() => void) | undefined;
}
