// Ends a session early, because the user cancels it or it expires. Its effects are undone first.
import { toClientHeader, endReason, isEnded } from '../../header.ts';
import type { EarlyEnd, JournalEntry } from '../../journal.ts';
import { fold } from '../../fold.ts';
import { toShortId } from '../../session-id.ts';
import type { AnyFlow } from '../../define.ts';
import type { SessionStore, StoredSession } from '../../store/store.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { ENDING_GRACE_MS } from '../turn/background-session.ts';
import type { LiveSession, SessionHost } from '../turn/turn-request.ts';
import type { Turn } from '../turn/turn.ts';
import { buildTrail } from '../turn/ended-record.ts';
import { toTombstoneMs } from '../context/flow-limits.ts';
import type { SessionContext } from '../context/session-context.ts';
import { unlessLate } from '../../../kernel/base/timing.ts';

interface EndRequest {
  /** Undefined if the flow is no longer served. */
  flow: AnyFlow | undefined;
  stored: StoredSession;
  ending: EarlyEnd;
}

/** Undefined if another writer was faster. */
export async function endSession(
  sessions: SessionHost,
  end: EndRequest,
  live: LiveSession | undefined,
): Promise<Turn | undefined> {
  const { flow, stored, ending } = end;
  if (live) return endedLive(sessions.context, end, live);
  if (!flow || !stored.entries.some(hasActed)) return endedAtOnce(sessions.context, end);
  return (await sessions.runTurn({ flow, ...stored, stored: true, ending })) ?? requestEnd(sessions.context, end);
}

function hasActed({ t }: JournalEntry): boolean {
  return t === 'step' || t === 'int';
}

/** Stops the running steps of this process, which then end the session. */
async function endedLive(
  { clock }: SessionContext,
  { stored, ending }: EndRequest,
  live: LiveSession,
): Promise<Turn | undefined> {
  await live.end(ending);
  // No client waits for an expiry.
  if (ending.kind === 'fail') return { header: toClientHeader(stored.header, ending), questions: [] };
  const turn = await unlessLate(live.next, clock, ENDING_GRACE_MS);
  if (!turn) return { header: toClientHeader(stored.header, ending), questions: [] };
  // It reached a question, or its end, just before.
  return isEnded(turn.header) ? turn : undefined;
}

/** Ends a session that has nothing to undo, or whose flow is not served. */
async function endedAtOnce(context: SessionContext, { stored, ending }: EndRequest): Promise<Turn | undefined> {
  const { store, clock, limits, log, counts } = context;
  const { header } = stored;
  const now = clock.now();
  const seen = {
    ...toClientHeader(header, ending),
    lastActivityAt: ending.reason === 'expired' ? header.lastActivityAt : now,
  };
  const { state, reason, current, lastActivityAt } = seen;
  const left = [...fold(stored.entries).intents.values()].flatMap(({ entry }) => (entry.undo ? [entry.k] : []));
  const notUndone = left.length > 0 ? left : undefined;
  if (notUndone) log.error({ tool: header.tool, session: toShortId(header.id), steps: left }, 'flow.not-undone');
  const trail = await buildTrail(context, header.id, [{ t: 'end', why: endReason(ending), ts: now }]);
  const patch = { state, reason, current, lastActivityAt, pending: undefined, handed: undefined, notUndone, trail };
  const done = await store.commit(header.id, header.rev, { patch, tombstoneMs: toTombstoneMs(limits, header) });
  if (!done.ok) return undefined;
  counts.wrote(header, { ...header, ...patch }, []);
  return { header: { ...seen, rev: done.rev }, questions: [] };
}

/** Asks the process that holds the session to end it, at its next write. If it has died, the next holder does. */
export async function requestEnd(
  { store, clock }: { store: SessionStore; clock: Clock },
  { stored: { header }, ending }: Pick<EndRequest, 'stored' | 'ending'>,
): Promise<Turn | undefined> {
  const now = clock.now();
  const open = { current: [], waits: undefined, busy: undefined, handed: undefined };
  const patch = { state: 'processing' as const, ...open, pending: ending };
  const done = await store.commit(header.id, header.rev, {
    patch,
    add: [{ t: 'end', why: endReason(ending), ts: now }],
    dueAt: now,
  });
  return done.ok ? { header: { ...toClientHeader(header, ending), rev: done.rev }, questions: [] } : undefined;
}
