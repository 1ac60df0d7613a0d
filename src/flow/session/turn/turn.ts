// A turn of a session: what it will write, and what its caller learns.
import type { PromptStep } from '../../../kernel/form/prompt.ts';
import type { Header, JournalEntry } from '../../journal.ts';
import type { Complaint, Question } from '../../question/question.ts';

export type Verdict = { valid: true } | ({ valid: false } & Complaint);

export interface Failure {
  /** A code of the error table, or the name of the author's error. */
  name: string;
  message: string;
  data?: unknown;
}

export interface Turn {
  header: Header;
  /** After an answer: whether all of it was accepted, and the verdict on each part by promptId. */
  accepted?: boolean | undefined;
  verdicts?: Record<string, Verdict> | undefined;
  /** The open questions. */
  questions: Question[];
  progress?: PromptStep | undefined;
  /** Present, perhaps as undefined, if this turn completed the session. */
  result?: unknown;
  summary?: string | undefined;
  /** Present if it has failed. */
  failure?: Failure | undefined;
  /** Present while a step runs: the turn that follows. Never rejects. */
  next?: Promise<Turn> | undefined;
  /** Present while it waits for others and asks nothing: waits for the next turn, which `sessions.on` also announces. */
  later?: (() => Promise<Turn>) | undefined;
}

/** Waits until no step runs: the session asks something, waits for others, or has ended. */
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

/** What a commit writes, and the turn to report once it is written. */
export interface TurnDraft {
  patch: Partial<Header>;
  add: JournalEntry[];
  turn: Omit<Turn, 'header'>;
  dueAt?: number | undefined;
}
