// Ends a session early: the user cancels it, or its time is over. Its effects are undone first.
import { asEnded, toWhy } from '../../journal.ts';
import type { Ending, Entry } from '../../journal.ts';
import { fold } from '../../fold.ts';
import { toShortId } from '../../short-id.ts';
import type { AnyFlow } from '../../define.ts';
import type { StoredSession } from '../../store/store.ts';
import { isEnded } from '../../store/store.ts';
import { ENDING_GRACE_MS } from '../others/at-work.ts';
import type { Live } from '../turn/drive-input.ts';
import { trailOf } from './trail.ts';
import type { Sessions } from '../sessions.ts';
import type { Setup } from '../setup.ts';
import type { Turn } from '../turn/turn.ts';

export interface SessionEnd {
  /** Undefined where it is not served any more. */
  flow: AnyFlow | undefined;
  stored: StoredSession;
  ending: Ending;
}

/** Undefined if somebody else was faster. */
export async function ended(sessions: Sessions, end: SessionEnd, live: Live | undefined): Promise<Turn | undefined> {
  const { flow, stored, ending } = end;
  if (live) return endedLive(sessions.setup, end, live);
  if (!flow || !stored.entries.some(hasActed)) return endedAtOnce(sessions.setup, end);
  return (await sessions.drive({ flow, ...stored, stored: true, ending })) ?? leftToEnd(sessions.setup, end);
}

function hasActed({ t }: Entry): boolean {
  return t === 'step' || t === 'int';
}

/** What is at work here stops, and ends it. */
async function endedLive({ clock }: Setup, { stored, ending }: SessionEnd, live: Live): Promise<Turn | undefined> {
  await live.end(ending);
  // Nobody waits for a session that expires.
  if (ending.kind === 'fail') return { header: asEnded(stored.header, ending), questions: [] };
  const late = new Promise<undefined>((resolve) => void clock.after(ENDING_GRACE_MS, () => resolve(undefined)));
  const turn = await Promise.race([live.next, late]);
  if (!turn) return { header: asEnded(stored.header, ending), questions: [] };
  // It came to a question, or to its end, just before.
  return isEnded(turn.header) ? turn : undefined;
}

/** It has done nothing that could be taken back, or nobody knows how. */
async function endedAtOnce(setup: Setup, { stored, ending }: SessionEnd): Promise<Turn | undefined> {
  const { store, clock, limits, log, counts } = setup;
  const { header } = stored;
  const now = clock.now();
  const seen = {
    ...asEnded(header, ending),
    lastActivityAt: ending.reason === 'expired' ? header.lastActivityAt : now,
  };
  const { state, reason, current, lastActivityAt } = seen;
  const left = [...fold(stored.entries).intents.values()].flatMap(({ entry }) => (entry.undo ? [entry.k] : []));
  const notUndone = left.length > 0 ? left : undefined;
  if (notUndone) log.error({ tool: header.tool, session: toShortId(header.id), steps: left }, 'flow.not-undone');
  const trail = await trailOf(setup, header.id, [{ t: 'end', why: toWhy(ending), ts: now }]);
  const patch = { state, reason, current, lastActivityAt, pending: undefined, handed: undefined, notUndone, trail };
  const done = await store.commit(header.id, header.rev, { patch, tombstoneMs: limits.tombstoneMs });
  if (!done.ok) return undefined;
  counts.wrote(header, { ...header, ...patch }, []);
  return { header: { ...seen, rev: done.rev }, questions: [] };
}

/** Another process is at work in it: it notices at its next write. If it has died, the process that takes over does. */
export async function leftToEnd(
  { store, clock }: Pick<Setup, 'store' | 'clock'>,
  { stored: { header }, ending }: Pick<SessionEnd, 'stored' | 'ending'>,
): Promise<Turn | undefined> {
  const now = clock.now();
  const open = { current: [], waits: undefined, busy: undefined, handed: undefined };
  const patch = { state: 'processing' as const, ...open, pending: ending };
  const done = await store.commit(header.id, header.rev, {
    patch,
    add: [{ t: 'end', why: toWhy(ending), ts: now }],
    dueAt: now,
  });
  return done.ok ? { header: { ...asEnded(header, ending), rev: done.rev }, questions: [] } : undefined;
}
