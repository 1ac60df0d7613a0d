// Drafts of the two commits of an early end: the session is being ended, and the session has ended.
import { earlyEndOf, endReason } from '../../header.ts';
import type { EarlyEnd, JournalEntry } from '../../journal.ts';
import type { TurnRunner } from '../turn/turn-runner.ts';
import { toVerdicts } from '../turn/turn-changes.ts';
import type { TurnDraft } from '../turn/turn-changes.ts';

/** The session has ended. */
export function draftEnded(
  { input: { context } }: TurnRunner,
  { kind, reason }: EarlyEnd,
  { turn, notUndone }: { turn: TurnDraft['turn']; notUndone?: string[] | undefined },
): TurnDraft {
  const state = kind === 'cancel' ? ('cancelled' as const) : ('error' as const);
  const lastActivityAt = context.clock.now();
  return { patch: { state, reason, current: [], pending: undefined, lastActivityAt, notUndone }, add: [], turn };
}

/** The session is being ended; written before its effects are undone. */
export function draftEnding({ input, commits }: TurnRunner, ending: EarlyEnd): TurnDraft {
  const isKnown = earlyEndOf(commits.header) !== undefined;
  const open = { current: [], waits: undefined, busy: undefined };
  const patch = { state: 'processing' as const, ...open, pending: ending };
  const add: JournalEntry[] = isKnown ? [] : [{ t: 'end', why: endReason(ending), ts: input.context.clock.now() }];
  return { patch, add, turn: { questions: [], ...toVerdicts(input.incoming ?? []) } };
}
