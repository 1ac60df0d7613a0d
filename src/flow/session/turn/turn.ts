// What a session answers to whatever is done with it: where it stands now, what it asks, how it ended.
import type { Header } from '../../journal.ts';
import type { PromptStep } from '../../../protocol/prompt.ts';
import type { Complaint, Question } from '../../question/question.ts';

export type Verdict = { valid: true } | ({ valid: false } & Complaint);

export interface Failure {
  /** A code of the table of errors, or the name of the author's error. */
  name: string;
  message: string;
  data?: unknown;
}

export interface Turn {
  header: Header;
  /** Where an answer was given: whether all of it was accepted, and what is to be said of each, by promptId. */
  accepted?: boolean | undefined;
  verdicts?: Record<string, Verdict> | undefined;
  /** The questions that wait now. */
  questions: Question[];
  progress?: PromptStep | undefined;
  /** Present, be it undefined, once it is completed by what was done here. */
  result?: unknown;
  summary?: string | undefined;
  /** Present once it has failed. */
  failure?: Failure | undefined;
  /** Present while a step runs: the turn that follows by itself. Never rejects. */
  next?: Promise<Turn> | undefined;
  /** Present while it waits for others and asks nothing: the turn that it comes to then, which is also told to `sessions.on`. */
  later?: (() => Promise<Turn>) | undefined;
}

/** Waits until no step runs: then the session asks something, waits for others, or has ended. */
export async function afterSteps(turn: Turn): Promise<Turn> {
  let last = turn;
  while (last.next) last = await last.next;
  return last;
}

/** Waits until the session asks something or ends. `onWaiting` is called with each turn in which it waits for others. */
export async function settled(turn: Turn, onWaiting?: (turn: Turn) => void): Promise<Turn> {
  let last = turn;
  for (;;) {
    if (!last.next && last.later) onWaiting?.(last);
    const next = last.next ?? last.later?.();
    if (!next) return last;
    last = await next;
  }
}
