// The input of a run of a body: what stays the same for all its turns, and what comes with each.
import type { AnyFlow } from '../define.ts';
import type { FoldedJournal } from '../fold.ts';
import type { IncomingAnswer, IncomingEvent } from './match-answer.ts';
import type { QuestionSpec } from './question-spec.ts';
import type { UnjournaledAccess } from './unjournaled.ts';

/** What I/O outside of a step does: fail the session, log a warning, or nothing. */
export type Checks = 'throw' | 'warn' | 'off';

export interface RunInput {
  flow: AnyFlow;
  folded: FoldedJournal;
  sessionId: string;
  locale?: string | undefined;
  /** False: the body sees the real time and randomness. */
  virtual?: boolean | undefined;
  /** Questions that can be asked ahead, by the keys of the questions before them. */
  next?: ReadonlyMap<string, QuestionSpec[]> | undefined;
  /** Answers are made up, and not validated. */
  isTrusting?: boolean | undefined;
}

export interface RunTurn {
  /** The timestamp of new entries. */
  now: number;
  /** New answers and events, in the order in which they arrived. */
  incoming?: (IncomingAnswer | IncomingEvent)[] | undefined;
  /** Default: `throw`. */
  checks?: Checks | undefined;
  /** Effects that were done, but that the body had not reached when it asked the open questions. */
  unasked?: readonly string[] | undefined;
  /** When the session ends in any case. No sleep may last longer. */
  deadline?: number | undefined;
  /** Wait for steps before asking, because no process could continue them later. */
  isPatient?: boolean | undefined;
  host?: RunHost | undefined;
}

/** Who is told what happens in a run. */
export interface RunHost {
  onUnjournaled?(access: UnjournaledAccess): void;
  /** The body waits for something that is neither a question nor a step. */
  onStall?(): void;
  /** The body has failed while effects that can be undone still run; the run waits for them. */
  onFailing?(): void;
}
