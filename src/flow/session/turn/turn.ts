// A turn of a session: what it is for, what it needs of the sessions around it, and its result.
import type { PromptStep } from '../../../kernel/form/prompt.ts';
import type { AnyFlow } from '../../define.ts';
import type { IncomingEvent, IncomingAnswer } from '../../engine/match-answer.ts';
import type { QuestionSpec } from '../../engine/question-spec.ts';
import type { Header, EarlyEnd, JournalEntry } from '../../journal.ts';
import type { Complaint, Question } from '../../question/question.ts';
import type { SessionContext } from '../session-context.ts';
import type { SessionEvent } from '../session-event.ts';
import type { WarmBody } from './turn-runner.ts';

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

/** The session that has a turn, and what the turn is for. */
export interface TurnRequest {
  flow: AnyFlow;
  header: Header;
  entries: JournalEntry[];
  /** The session is in the store already. */
  stored: boolean;
  /** Entries for the first commit, which the run knows already. */
  prefix?: JournalEntry[] | undefined;
  incoming?: (IncomingAnswer | IncomingEvent)[] | undefined;
  /** No client caused this turn: a wait has ended, or an event has arrived. */
  byItself?: boolean | undefined;
  /** Its body in memory, at the end of the entries. */
  warm?: WarmBody | undefined;
  /** The session is to end early. */
  ending?: EarlyEnd | undefined;
  /** Another process may hold it. Default: as its header says. */
  mayBeHeld?: boolean | undefined;
  /** The turn was not caused by its client. */
  fromOutside?: boolean | undefined;
}

export interface TurnInput extends TurnRequest {
  context: SessionContext;
  host: TurnHost;
  /** Questions that can be asked ahead. */
  next: ReadonlyMap<string, QuestionSpec[]> | undefined;
}

/** The sessions that a turn belongs to. */
export interface TurnHost {
  readonly context: SessionContext;
  emit(event: SessionEvent): void;
  /** Another TurnRunner of this process runs its steps. */
  isLive(id: string): boolean;
  /** The session goes on in the background. */
  onLive(live: LiveSession): void;
  /** The turn that follows when the caller has nothing to answer. */
  laterTurn(header: Header): Pick<Turn, 'later'>;
  /** A turn followed although questions were open. */
  onMoved(turn: Turn): void;
  /** Entries were written for the process that holds the session. */
  onLeft(id: string): void;
  /** A question or wait has timed out while steps run here. */
  onDue(id: string): void;
}

/** A session whose steps run in this process. */
export interface LiveSession {
  readonly id: string;
  /** The next turn. */
  readonly next: Promise<Turn>;
  /** Settles when this process is done with it, which may be later than `next` if effects are undone. */
  readonly done: Promise<Turn>;
  /** Ends the session early. */
  end(ending: EarlyEnd): Promise<void>;
  /** Reads entries that another process wrote for it. */
  look(): void;
  /** Leaves it as it is to another process. */
  abort(): void;
}
