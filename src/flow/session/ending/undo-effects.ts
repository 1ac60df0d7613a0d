// Takes effects back, the last one first. Each is written down before the next: whoever takes over after a crash goes on there.
// An effect that has begun and of which nobody knows what came of it is brought to its outcome first: looked for with `check`, or done again
// with the same idempotency key.
import { BodyRun } from '../../engine/body-run.ts';
import type { StepSpec } from '../../engine/pending-ask.ts';
import type { AnyFlow } from '../../define.ts';
import { fold } from '../../fold.ts';
import type { FoldedJournal } from '../../fold.ts';
import type { Header } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { toShortId } from '../../short-id.ts';
import type { Commits } from '../turn/commits.ts';
import { runWithinTimeout } from '../turn/run-step.ts';
import type { SessionContext } from '../session-context.ts';

/** Something that is to be taken back. */
export interface Effect {
  key: string;
  /** How; undefined where the body does not ask for it any more. */
  spec: StepSpec | undefined;
  /** What it gave; undefined where that is not known. */
  done: { result: unknown } | undefined;
}

export interface UndoContext {
  setup: SessionContext;
  flow: AnyFlow;
  header: Header;
  folded: FoldedJournal;
  commits: Commits;
  /** Aborted when this process leaves the session to another. */
  signal: AbortSignal;
}

/** Our own words for a step of which nobody knows whether it has happened: it took too long, or what it gave could not be kept. */
const UNCERTAIN = new Set(['FLOW_TIMEOUT', 'FLOW_TOO_LARGE', 'FLOW_MISUSED']);
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** What a run has done that can be taken back, in the order in which it was asked for. */
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

/**
 * Tries each of them once, the last first. What is left could not be taken back this time. `inOrder`: one that cannot be taken back keeps
 * those before it, too.
 */
export async function undoRound(
  undoing: UndoContext,
  effects: Effect[],
  tries: number,
  inOrder = false,
): Promise<Effect[]> {
  const { setup, flow, header, commits } = undoing;
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
      setup.log.warn(about, 'flow.undo-failed');
      left.unshift(effect);
      continue;
    }
    const written = await commits.write({}, [{ t: 'undo', k: effect.key, ts: setup.clock.now() }]);
    if (!written.header) throw new GatewayError('STORE_FAILED', { reason: `somebody else undoes ${effect.key}` });
  }
  return left;
}

/** Before the next round. */
export function toUndoPause(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
}

/** Nothing that is tried again would change it. */
export function isHopeless({ spec, done }: Effect): boolean {
  return spec !== undefined && !done && spec.options.effect === 'once' && !spec.options.check;
}

async function undo(
  { setup, header, flow, folded, signal }: UndoContext,
  effect: Effect,
  attempt: number,
): Promise<void> {
  const { key, spec } = effect;
  if (!spec) {
    throw new GatewayError('FLOW_CHANGED', { tool: flow.name, change: `it does not tell how ${key} is undone` });
  }
  const { id: sessionId, principal } = header;
  const step = { setup, sessionId, principal, spec, folded, signal: () => signal };
  const done = effect.done ?? (await outcomeOf(effect, (work) => runWithinTimeout(step, attempt, work)));
  // It has not happened.
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
    return undefined; // it failed, and so it has not happened
  }
}

/** Effects of a session that waits. The body tells how they are taken back, so it is run once more. */
export async function findStoredEffects(
  { setup, flow }: Pick<UndoContext, 'setup' | 'flow'>,
  { header, entries }: StoredSession,
): Promise<Effect[]> {
  const folded = fold(entries);
  if (folded.intents.size === 0) return [];
  const { id: sessionId, locale } = header;
  const run = new BodyRun({ flow, folded, sessionId, locale, incoming: [], checks: 'off', now: setup.clock.now() });
  await run.next();
  return [...run.steps].flatMap(([key, { spec, outcome }]) =>
    spec.options.effect && outcome && !outcome.e ? [{ key, spec, done: { result: outcome.v } }] : [],
  );
}
