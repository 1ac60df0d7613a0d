// The input of a run of a body.
import type { AnyFlow } from '../define.ts';
import type { FoldedJournal } from '../fold.ts';
import type { QuestionSpec } from './question-spec.ts';
import type { IncomingEvent } from './match-event.ts';
import type { IncomingAnswer } from './match-answer.ts';
import type { UnjournaledAccess } from './tracer.ts';

/** What I/O outside of a step does: fail the session, log a warning in sampled runs, or nothing. */
export type Checks = 'throw' | 'warn' | 'off';

/** The part of the input that a warm body gets with each turn. */
export type ResumeInput = Pick<
  RunInput,
  | 'incoming'
  | 'now'
  | 'checks'
  | 'next'
  | 'onUnjournaled'
  | 'onStall'
  | 'onFailing'
  | 'unasked'
  | 'deadline'
  | 'isPatient'
>;

export interface RunInput {
  flow: AnyFlow;
  folded: FoldedJournal;
  sessionId: string;
  locale?: string | undefined;
  /** New answers and events, in the order in which they arrived. */
  incoming: (IncomingAnswer | IncomingEvent)[];
  /** The timestamp of new entries. */
  now: number;
  /** Default: `throw`. */
  checks?: Checks | undefined;
  onUnjournaled?: ((access: UnjournaledAccess) => void) | undefined;
  /** Effects that were done, but that the body had not reached when it asked the open questions. */
  unasked?: readonly string[] | undefined;
  /** When the session ends in any case. No sleep may last longer. */
  deadline?: number | undefined;
  /** Wait for steps before asking, because no process could continue them later. */
  isPatient?: boolean | undefined;
  /** False: the body sees the real time and randomness. */
  virtual?: boolean | undefined;
  /** Questions that can be asked ahead, by the keys of the questions before them. */
  next?: ReadonlyMap<string, QuestionSpec[]> | undefined;
  /** Answers are made up, and not validated. */
  isTrusting?: boolean | undefined;
  /** Called when the body waits for something that is neither a question nor a step. */
  onStall?: (() => void) | undefined;
  /** Called when the body has failed while effects that can be undone still run; the run waits for them. */
  onFailing?: (() => void) | undefined;
}

/** Member by member, here and below: `Object.assign` and spreads take longer than the rest of what it takes to begin a turn. */
export function createRunInput(
  { flow, folded, sessionId, locale, virtual }: Pick<RunInput, 'flow' | 'folded' | 'sessionId' | 'locale' | 'virtual'>,
  { incoming, now, checks, next, onUnjournaled, onStall, onFailing, unasked, deadline, isPatient }: ResumeInput,
): RunInput {
  return {
    flow,
    folded,
    sessionId,
    locale,
    virtual,
    incoming,
    now,
    checks,
    next,
    onUnjournaled,
    onStall,
    onFailing,
    unasked,
    deadline,
    isPatient,
  };
}

export function updateRunInput(input: RunInput, given: ResumeInput): void {
  input.incoming = given.incoming;
  input.now = given.now;
  input.checks = given.checks;
  input.next = given.next;
  input.onUnjournaled = given.onUnjournaled;
  input.onStall = given.onStall;
  input.onFailing = given.onFailing;
  input.unasked = given.unasked;
  input.deadline = given.deadline;
  input.isPatient = given.isPatient;
}

/** Lets go of the last turn while the body waits. */
export function clearTurnInput(input: RunInput): void {
  input.incoming = [];
  input.onUnjournaled = undefined;
  input.onStall = undefined;
  input.onFailing = undefined;
}
