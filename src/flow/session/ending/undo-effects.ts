// Undoes effects, the last one first. Each undo is recorded before the next, so that another process can continue after a crash.
// If the outcome of an effect is unknown, it is determined first: by `check`, or by running the effect again with the same idempotency key.
import { BodyRun } from '../../engine/body-run.ts';
import type { StepSpec } from '../../engine/pending-ask.ts';
import type { AnyFlow } from '../../define.ts';
import { fold } from '../../fold.ts';
import type { FoldedJournal } from '../../fold.ts';
import type { Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { toShortId } from '../session-id.ts';
import type { Commits } from '../turn/commits.ts';
import { runWithinTimeout } from '../turn/run-step.ts';
import type { SessionContext } from '../session-context.ts';

/** An effect to undo. */
export interface Effect {
  key: string;
  /** Undefined if the body no longer has this step. */
  spec: StepSpec | undefined;
  /** The result; undefined if it is not known. */
  done: { result: unknown } | undefined;
}

export interface UndoContext {
  context: SessionContext;
  flow: AnyFlow;
  header: Header;
  folded: FoldedJournal;
  commits: Commits;
  /** Aborts when this process leaves the session to another. */
  signal: AbortSignal;
}

/** Errors after which it is unknown whether the effect happened: it took too long, or its result could not be stored. */
const UNCERTAIN = new Set(['FLOW_TIMEOUT', 'FLOW_TOO_LARGE', 'FLOW_MISUSED']);
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** The effects of a run that can be undone, in call order. */
export function findUndoable({ steps, input: { folded } }: BodyRun, began: ReadonlySet<string>): Effect[] {
  const effects: Effect[] = [];
  for (const [key, { spec, isLate, outcome }] of steps) {
    if (isLate || !spec.options.effect || !spec.options.undo || folded.undone.has(key)) continue;
    if (outcome && !outcome.e) effects.push({ key, spec, done: { result: outcome.v } });
    else if (outcome ? UNCERTAIN.has(outcome.e!.name) : began.has(key) || folded.intents.has(key)) {
      effects.push({ key, spec, done: undefined });
    }
  }
  for (const [key, { entry }] of folded.intents) {
    if (entry.undo && !steps.has(key) && !folded.undone.has(key))
      effects.push({ key, spec: undefined, done: undefined });
  }
  return effects;
}

/** Tries to undo each effect once, and returns those that failed. `inOrder`: stop at the first failure. */
export async function undoRound(
  undoing: UndoContext,
  effects: Effect[],
  tries: number,
  inOrder = false,
): Promise<Effect[]> {
  const { context, flow, header, commits } = undoing;
  const left: Effect[] = [];
  for (const effect of effects.toReversed()) {
    if (inOrder && left.length > 0) {
      left.unshift(effect);
      continue;
    }
    try {
      await undo(undoing, effect, tries + 1);
    } catch (error) {
      const about = { error, tool: flow.name, session: toShortId(header.id), step: effect.key, attempt: tries + 1 };
      context.log.warn(about, 'flow.undo-failed');
      left.unshift(effect);
      continue;
    }
    const written = await commits.write({}, [{ t: 'undo', k: effect.key, ts: context.clock.now() }]);
    if (!written) throw new GatewayError('STORE_FAILED', { reason: `another process undoes ${effect.key}` });
  }
  return left;
}

/** The pause before the next round. */
export function toUndoPause(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
}

/** Another try cannot succeed. */
export function isHopeless({ spec, done }: Effect): boolean {
  return spec !== undefined && !done && spec.options.effect === 'once' && !spec.options.check;
}

async function undo(
  { context, header, flow, folded, signal }: UndoContext,
  effect: Effect,
  attempt: number,
): Promise<void> {
  const { key, spec } = effect;
  if (!spec) {
    throw new GatewayError('FLOW_CHANGED', { tool: flow.name, change: `it has no undo for ${key}` });
  }
  const { id: sessionId, principal } = header;
  const step = { context, sessionId, principal, spec, folded, signal: () => signal };
  const done = effect.done ?? (await outcomeOf(effect, (work) => runWithinTimeout(step, attempt, work)));
  // The effect did not happen.
  if (!done) return;
  effect.done = done;
  await runWithinTimeout(step, attempt, (context) => spec.options.undo?.(done.result, context));
}

type Within = (work: StepSpec['work']) => Promise<unknown>;

async function outcomeOf({ key, spec }: Effect, within: Within): Promise<Effect['done']> {
  const { check, effect } = spec!.options;
  if (check) {
    const found = await within(check);
    return found === undefined ? undefined : { result: found };
  }
  if (effect === 'once') throw new GatewayError('FLOW_EFFECT_UNKNOWN', { step: key });
  try {
    return { result: await within(spec!.work) };
  } catch (error) {
    if (error instanceof GatewayError && UNCERTAIN.has(error.code)) throw error;
    return undefined; // it failed, so it did not happen
  }
}

/** The effects of a session that waits. A replay of the body finds how to undo them. */
export async function findStoredEffects(
  { context, flow }: Pick<UndoContext, 'context' | 'flow'>,
  { header, entries }: StoredSession,
): Promise<Effect[]> {
  const folded = fold(entries);
  if (folded.intents.size === 0) return [];
  const { id: sessionId, locale } = header;
  const run = new BodyRun({ flow, folded, sessionId, locale }, { checks: 'off', now: context.clock.now() });
  await run.next();
  return [...run.steps].flatMap(([key, { spec, outcome }]) =>
    spec.options.effect && outcome && !outcome.e ? [{ key, spec, done: { result: outcome.v } }] : [],
  );
}
