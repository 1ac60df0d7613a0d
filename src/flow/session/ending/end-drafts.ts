// What a session that ends before its time does to its header: first that it ends, and at last that it has ended.
import { endingOf, toWhy } from '../../journal.ts';
import type { Ending, Entry } from '../../journal.ts';
import type { Drive } from '../turn/drive.ts';
import { toVerdicts } from '../turn/patches.ts';
import type { Draft } from '../turn/patches.ts';

/** The end, after which nothing is left. */
export function toEnded(
  { input: { setup } }: Drive,
  { kind, reason }: Ending,
  { turn, notUndone }: { turn: Draft['turn']; notUndone?: string[] | undefined },
): Draft {
  const state = kind === 'cancel' ? ('cancelled' as const) : ('error' as const);
  const lastActivityAt = setup.clock.now();
  return { patch: { state, reason, current: [], pending: undefined, lastActivityAt, notUndone }, add: [], turn };
}

/** That it ends, before anything is done about it. */
export function toEnding({ input, commits }: Drive, ending: Ending): Draft {
  const isKnown = endingOf(commits.header) !== undefined;
  const open = { current: [], waits: undefined, busy: undefined };
  const patch = { state: 'processing' as const, ...open, pending: ending };
  const add: Entry[] = isKnown ? [] : [{ t: 'end', why: toWhy(ending), ts: input.setup.clock.now() }];
  return { patch, add, turn: { questions: [], ...toVerdicts(input.incoming ?? []) } };
}
