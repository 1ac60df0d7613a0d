// What a drive is given, and what others see of it while it is at work.
import type { AnyFlow } from '../../define.ts';
import type { IncomingEvent } from '../../engine/match-event.ts';
import type { IncomingAnswer } from '../../engine/match-answer.ts';
import type { QuestionSpec } from '../../engine/question-spec.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import type { WarmBody } from './warm-body.ts';
import type { PromptStep } from '../../../protocol/prompt.ts';
import type { SessionContext } from '../session-context.ts';
import type { Turn } from './turn.ts';

export interface TurnInput {
  setup: SessionContext;
  flow: AnyFlow;
  header: Header;
  entries: JournalEntry[];
  /** It is in the store already. */
  stored: boolean;
  /** Questions that can be put ahead. */
  next?: ReadonlyMap<string, QuestionSpec[]> | undefined;
  /** Entries to be written with the first commit, that the run already knows of. */
  prefix?: JournalEntry[] | undefined;
  incoming?: (IncomingAnswer | IncomingEvent)[] | undefined;
  /** Nobody of its client's has asked for it: a wait is over, or something has happened outside. */
  byItself?: boolean | undefined;
  /** Its body, where the entries end. */
  frame?: WarmBody | undefined;
  /** It is to end before its time. */
  ending?: EarlyEnd | undefined;
  /** Steps of it run in this process, by another drive. */
  isLive?: boolean | undefined;
  /** Some process may be at work in it. Default: if its header says so. */
  mayBeHeld?: boolean | undefined;
  /** Somebody else than its client has brought it about. */
  fromOutside?: boolean | undefined;
  /** Follows it on its way: for the turn it leads to, and to call it off. */
  onLive?: ((live: LiveSession) => void) | undefined;
  /** The turn that it comes to by what others do. */
  following?: ((header: Header) => Promise<Turn>) | undefined;
  /** It has gone on by itself, though questions were put. */
  onMoved?: ((turn: Turn) => void) | undefined;
  /** Something was written down for the process that is at work in it. */
  onLeft?: ((id: string) => void) | undefined;
  /** A question or a wait has waited long enough, while steps run here. */
  onDue?: ((id: string) => void) | undefined;
  /** A step says how far it is. */
  onProgress?: ((header: Header, progress: PromptStep) => void) | undefined;
  /** Effects could not be taken back, however often it was tried. */
  onNotUndone?: ((header: Header, steps: string[]) => void) | undefined;
}

/** Nothing is left out, though it may be undefined. */
export type CompleteTurnInput = { [name in keyof Required<TurnInput>]: TurnInput[name] };

/** A session in which steps run in this process. */
export interface LiveSession {
  readonly id: string;
  /** The turn that it leads to. */
  readonly next: Promise<Turn>;
  /** Nothing more happens here. Where effects cannot be taken back at once that is later than `next`. */
  readonly done: Promise<Turn>;
  /** Ends the session before its time. */
  end(ending: EarlyEnd): Promise<void>;
  /** Something was written down for it. */
  look(): void;
  /** Leaves it as it is, for the process that takes it over. */
  abort(): void;
}
