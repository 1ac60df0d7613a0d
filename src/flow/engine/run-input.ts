// The input of a run of a body: what stays the same for all its turns, and what comes with each.
import type { AnyFlow } from '../define.ts';
import type { FoldedJournal } from '../fold.ts';
import type { QuestionSpec } from './question-spec.ts';
import type { UnjournaledAccess } from './unjournaled.ts';
import type { AskFailure } from '../authoring/ask-failure.ts';
import type { AnswerSource, Via } from '../journal.ts';
import type { Complaint, Question } from '../question/question.ts';

/** An answer that has just arrived and is not in the journal yet. The run writes its verdict into it. */
export interface IncomingAnswer {
  t: 'in';
  k: string;
  a: number;
  /** Who answered, if not the caller. */
  who?: string | undefined;
  v?: unknown;
  no?: AskFailure | undefined;
  src: AnswerSource;
  via: Via;
  at?: number | undefined;
  meta?: Record<string, unknown> | undefined;
  /** The question as it was asked. */
  question?: Question | undefined;
  /** It is a file or secret that is already in the store. */
  stored?: boolean | undefined;
  /** Set by the run. */
  verdict?: 'accepted' | Complaint | undefined;
}

/** An event that has just arrived and is not in the journal yet. */
export interface IncomingEvent {
  t: 'arr';
  k: string;
  v: unknown;
  /** Set by the run. */
  verdict?: 'accepted' | Complaint | undefined;
}

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
