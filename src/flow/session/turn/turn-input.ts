// The input of a TurnRunner, and the handle to a session that runs in this process.
import type { AnyFlow } from '../../define.ts';
import type { IncomingEvent } from '../../engine/match-event.ts';
import type { IncomingAnswer } from '../../engine/match-answer.ts';
import type { QuestionSpec } from '../../engine/question-spec.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import type { WarmBody } from './warm-body.ts';
import type { PromptStep } from '../../../protocol/form/prompt.ts';
import type { SessionContext } from '../session-context.ts';
import type { Turn } from './turn.ts';

export interface TurnInput {
  context: SessionContext;
  flow: AnyFlow;
  header: Header;
  entries: JournalEntry[];
  /** The session is in the store already. */
  stored: boolean;
  /** Questions that can be asked ahead. */
  next?: ReadonlyMap<string, QuestionSpec[]> | undefined;
  /** Entries for the first commit, which the run knows already. */
  prefix?: JournalEntry[] | undefined;
  incoming?: (IncomingAnswer | IncomingEvent)[] | undefined;
  /** No client caused this turn: a wait has ended, or an event has arrived. */
  byItself?: boolean | undefined;
  /** Its body in memory, at the end of the entries. */
  frame?: WarmBody | undefined;
  /** The session is to end early. */
  ending?: EarlyEnd | undefined;
  /** Another TurnRunner of this process runs its steps. */
  isLive?: boolean | undefined;
  /** Another process may hold it. Default: as its header says. */
  mayBeHeld?: boolean | undefined;
  /** The turn was not caused by its client. */
  fromOutside?: boolean | undefined;
  /** Called when the session goes on in the background. */
  onLive?: ((live: LiveSession) => void) | undefined;
  /** The next turn that no request of the caller causes. */
  following?: ((header: Header) => Promise<Turn>) | undefined;
  /** Called with a turn that followed although questions were open. */
  onMoved?: ((turn: Turn) => void) | undefined;
  /** Called after entries were written for the process that holds it. */
  onLeft?: ((id: string) => void) | undefined;
  /** Called when a question or wait has timed out while steps run here. */
  onDue?: ((id: string) => void) | undefined;
  /** A step reports progress. */
  onProgress?: ((header: Header, progress: PromptStep) => void) | undefined;
  /** Effects could not be undone. */
  onNotUndone?: ((header: Header, steps: string[]) => void) | undefined;
}

/** Every member is present, but may be undefined. */
export type CompleteTurnInput = { [name in keyof Required<TurnInput>]: TurnInput[name] };

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
