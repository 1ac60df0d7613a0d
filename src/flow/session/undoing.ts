// Takes effects back, the last one first. Each is written down before the next: whoever takes over after a crash goes on there.
import { Run } from '../engine/run.ts';
import type { StepSpec } from '../engine/want.ts';
import type { AnyFlow } from '../define.ts';
import { fold } from '../fold.ts';
import type { Folded } from '../fold.ts';
import type { Header } from '../journal.ts';
import type { StoredSession } from '../store/store.ts';
import { Commits } from './commits.ts';
import { toContext } from './run-step.ts';
import type { Setup } from './setup.ts';

export interface Effect {
  spec: StepSpec;
  result: unknown;
}

export interface Undoing {
  setup: Setup;
  flow: AnyFlow;
  stored: StoredSession;
}

/** Effects that have happened, in order. The body tells how they are taken back, so it is run once more. */
export async function effectsOf({ setup, flow, stored: { header, entries } }: Undoing): Promise<Effect[]> {
  const folded = fold(entries);
  if (folded.intents.size === 0) return [];
  const run = new Run({
    flow,
    folded,
    sessionId: header.id,
    locale: header.locale,
    incoming: [],
    checks: 'off',
    now: setup.clock.now(),
  });
  await run.next();
  return run.undoable;
}

/** Holds the session meanwhile. Undefined if somebody else was faster. */
export async function undoAll(
  undoing: Undoing,
  effects: Effect[],
  pending: Header['pending'],
): Promise<Commits | undefined> {
  const { setup, stored } = undoing;
  const commits = new Commits(setup, stored.header, true);
  const { header } = await commits.hold({ state: 'processing', current: [], pending }, []);
  if (!header) return undefined;
  const folded = fold(stored.entries);
  for (const effect of effects.toReversed()) {
    await undo(undoing, effect, folded);
    await commits.write({}, [{ t: 'undo', k: effect.spec.key, ts: setup.clock.now() }]);
  }
  return commits;
}

async function undo({ setup, stored, flow }: Undoing, { spec, result }: Effect, folded: Folded): Promise<void> {
  const signal = () => new AbortController().signal;
  const { id: sessionId, principal } = stored.header;
  const context = toContext({ setup, sessionId, principal, spec, folded, signal }, 1);
  try {
    await spec.options.undo?.(result, context);
  } catch (error) {
    setup.log.error({ error, tool: flow.name, step: spec.key }, 'flow.undo-failed');
  }
}
