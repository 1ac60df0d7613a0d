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
