// What a turn is for, and what it needs of the sessions around it. Calls go one way: requests begin turns, and a turn tells its host only what has happened.
import type { AnyFlow } from '../../define.ts';
import type { IncomingEvent, IncomingAnswer } from '../../engine/run-input.ts';
import type { QuestionSpec } from '../../engine/question-spec.ts';
import type { Header, EarlyEnd, JournalEntry } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import type { SessionContext } from '../context/session-context.ts';
import type { SessionEvent } from './session-event.ts';
import type { LoadRequest } from '../values/load-session.ts';
import type { Turn } from './turn.ts';
import type { WarmBody } from '../context/warm-bodies.ts';

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

/** The sessions of this process, for code that acts on one of them. */
export interface SessionHost extends TurnHost {
  readonly flows: ReadonlyMap<string, AnyFlow>;
  flowOf(header: Header): AnyFlow;
  /** Throws if the caller may not see the session. */
  load(request: LoadRequest): Promise<StoredSession>;
  /** Undefined if another writer was faster. */
  runTurn(request: TurnRequest): Promise<Turn | undefined>;
  /** Ends a session early. Undefined if another writer was faster. */
  end(stored: StoredSession, flow: AnyFlow | undefined, ending: EarlyEnd): Promise<Turn | undefined>;
  /** Calls the listener for events that no request caused, until the returned function is called. */
  on(listener: (event: SessionEvent) => void): () => void;
  /** A session was written; it may be the next one due. */
  expect(header: Header): void;
  /** The turn that follows by itself, because steps run in this process. */
  nextOf(header: Header): Promise<Turn> | undefined;
  /** Handles what is due for one session. */
  attend(sessionId: string): Promise<void>;
}
