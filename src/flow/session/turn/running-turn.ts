// A turn while it runs, as its parts see it: what drafts its commits, what ends it, and what goes on in the background.
import type { Cancellation } from '../../../kernel/base/cancellation.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import type { RunState } from '../../engine/pending-ask.ts';
import type { EarlyEnd, Header, JournalEntry } from '../../journal.ts';
import type { SessionChange } from '../../store/store.ts';
import type { Commits } from './commits.ts';
import type { TurnInput } from './turn-request.ts';
import type { Turn, TurnDraft } from './turn.ts';

export interface WriteTerms extends Pick<SessionChange, 'dueAt' | 'tombstoneMs'> {
  takesLease?: boolean;
}

export interface RunningTurn {
  readonly input: TurnInput;
  readonly run: BodyRun;
  readonly commits: Commits;
  /** The session runs in the background. */
  isLive: boolean;
  /** The signal for steps. */
  readonly signal: Cancellation;
  readonly ending: EarlyEnd | undefined;
  /** The turn to report with the end. */
  readonly endTurn: Omit<Turn, 'header'>;
  settle(rest: RunState): Promise<Turn | undefined>;
  /** Undefined if the session ends early. */
  toDraft(rest: RunState): TurnDraft | undefined | Promise<TurnDraft | undefined>;
  /** A failed session ends early. */
  unlessFailed(draft: TurnDraft): TurnDraft | undefined;
  fail(error: unknown): void;
  begin(ending: EarlyEnd): void;
  commit(draft: TurnDraft): Promise<Turn | undefined>;
  write(patch: Partial<Header>, add: JournalEntry[], terms?: WriteTerms): Promise<Header | undefined>;
  /** Parks the session for a version that can continue it. */
  setAside(error: Error): Promise<void>;
  /** Replaces the run by a new one over these entries. */
  replay(entries: JournalEntry[]): void;
}
