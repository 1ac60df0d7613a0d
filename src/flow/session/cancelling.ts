// The end of a session before its time: the body is left where it waits, and what it has done is taken back where that can be.
import type { AnyFlow } from '../define.ts';
import type { StoredSession } from '../store/store.ts';
import { Commits } from './commits.ts';
import type { Sessions } from './sessions.ts';
import type { Turn } from './turn.ts';
import { effectsOf, undoAll } from './undoing.ts';

interface Cancelling {
  flow: AnyFlow;
  stored: StoredSession;
  reason?: string | undefined;
}

/** Undefined if somebody else was faster. */
export async function cancelled({ setup }: Sessions, { flow, stored, reason }: Cancelling): Promise<Turn | undefined> {
  const undoing = { setup, flow, stored };
  const effects = (await effectsOf(undoing)).filter(({ spec }) => spec.options.undo !== undefined);
  const commits =
    effects.length === 0
      ? new Commits(setup, stored.header, true)
      : await undoAll(undoing, effects, { kind: 'cancel', reason });
  const patch = { state: 'cancelled' as const, reason, lastActivityAt: setup.clock.now(), pending: undefined };
  const { header } = (await commits?.write(patch, [], { tombstoneMs: setup.limits.tombstoneMs })) ?? {};
  return header && { header, questions: [] };
}

/** Another process is at work in it: it stops at its next write, and whoever looks after the session then takes its effects back. */
export async function leftToCancel(
  { setup }: Sessions,
  { stored: { header }, reason }: Cancelling,
): Promise<Turn | undefined> {
  const pending = { kind: 'cancel' as const, reason };
  const patch = { state: 'processing' as const, current: [], pending };
  const done = await setup.store.commit(header.id, header.rev, { patch, dueAt: setup.clock.now() });
  return done.ok ? { header: { ...header, state: 'cancelled', rev: done.rev }, questions: [] } : undefined;
}
