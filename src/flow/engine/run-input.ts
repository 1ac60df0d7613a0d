// What a run is given.
import type { AnyFlow } from '../define.ts';
import type { FoldedJournal } from '../fold.ts';
import type { QuestionSpec } from './question-spec.ts';
import type { IncomingEvent } from './match-event.ts';
import type { IncomingAnswer } from './match-answer.ts';
import type { UnjournaledAccess } from './tracer.ts';

/** What happens when a body reaches out by itself: it fails, it is told of in some of its runs, or nothing. */
export type Checks = 'throw' | 'warn' | 'off';

/** What is another in each turn of a body that was left waiting. */
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
  /** Answers and events that have just come, in the order in which they came. */
  incoming: (IncomingAnswer | IncomingEvent)[];
  /** The time of what is written down now. */
  now: number;
  /** Default: `throw`. */
  checks?: Checks | undefined;
  onUnjournaled?: ((trespass: UnjournaledAccess) => void) | undefined;
  /** Effects that were done, and that the body had not come by when it put the questions that are answered now. */
  unasked?: readonly string[] | undefined;
  /** When the session is over, however busy it is. No sleep lasts longer. */
  deadline?: number | undefined;
  /** Steps are waited for before anything is asked: nobody could go on with them later. */
  isPatient?: boolean | undefined;
  /** False: the body sees the time and randomness that everybody sees. */
  virtual?: boolean | undefined;
  /** Questions that can be put ahead, by the keys of those before them. */
  next?: ReadonlyMap<string, QuestionSpec[]> | undefined;
  /** Answers are made up, and are not checked. */
  isTrusting?: boolean | undefined;
  /** The body waits for something that is neither a question nor a step. */
  onStall?: (() => void) | undefined;
  /** The body has failed while effects that can be taken back are in flight; they are waited for. */
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

/** While it waits it holds nothing of the turn that is over. */
export function clearTurnInput(input: RunInput): void {
  input.incoming = [];
  input.onUnjournaled = undefined;
  input.onStall = undefined;
  input.onFailing = undefined;
}
