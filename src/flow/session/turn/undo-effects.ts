// Finds and undoes the effects of a session that ends early or goes back, the last effect first. Each undo is recorded before the next, so
// that another process can continue after a crash. If the outcome of an effect is unknown, it is determined first: by `check`, or by
// running the effect again with the same idempotency key.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { pause, unlessAborted } from '../../../kernel/base/timing.ts';
import type { AnyFlow } from '../../define.ts';
import { BodyRun } from '../../engine/body-run.ts';
import { findPlace } from '../../engine/misuse.ts';
import type { StepSpec } from '../../engine/pending-ask.ts';
import { fold } from '../../fold.ts';
import type { FoldedJournal } from '../../fold.ts';
import { toClientHeader } from '../../header.ts';
import type { Header, EarlyEnd } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';
import { toParkedPatch } from './parking.ts';
import type { SessionContext } from '../context/session-context.ts';
import { toShortId } from '../../session-id.ts';
import type { Commits } from './commits.ts';
import { runWithinTimeout } from './step-attempt.ts';
import type { RunningTurn } from './running-turn.ts';
import type { Turn } from './turn.ts';

/** An effect to undo. */
export interface Effect {
  key: string;
  /** Undefined if the body no longer has this step. */
  spec: StepSpec | undefined;
  /** The result; undefined if it is not known. */
  done: { result: unknown } | undefined;
}

interface UndoContext {
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
/** The limit for sessions in tokens, which no process can continue after the request. */
const ATTEMPTS_IN_A_REQUEST = 3;

interface UnwindOptions {
  effects: Effect[];
  /** Aborts when this process leaves the session to another. */
  signal: AbortSignal;
  /** Called when the session has ended for the client, though undos are left. */
  onTold: (header: Header) => void;
  end: (notUndone?: string[]) => Promise<Turn>;
}

/**
 * Undoes the effects of a session that ends early. Failed undos are tried again with growing pauses, up to a limit. The session then ends
 * anyway, and what is left is reported.
 */
export async function unwind(runner: RunningTurn, ending: EarlyEnd, unwinding: UnwindOptions): Promise<Turn> {
  const { commits, run } = runner;
  const { context, flow, header, host } = runner.input;
  const { effects, signal, onTold, end } = unwinding;
  const undoing = { context, flow, header, commits, signal, folded: run.input.folded };
  let left = effects;
  for (let tries = ending.tries ?? 0; ;) {
    const round = await unlessAborted(undoRound(undoing, left, tries++), signal);
    if (!round) return commits.current();
    left = round;
    if (left.length === 0) return end();
    const isOver = tries >= maxUndoAttempts(context) || left.every(isHopeless);
    if (context.lasting && left.every(({ spec }) => !spec) && (await setAside(runner, ending))) {
      onTold(commits.header);
      return commits.current();
    }
    if (isOver) break;
    const written = await commits.write({ pending: { ...ending, tries } }, []);
    if (!written) return commits.current();
    if (context.lasting) onTold(written);
    if (!(await pauseBeforeUndo(context, tries, signal))) return commits.current();
  }
  const steps = left.map(({ key }) => key);
  // A session that was given up before has been reported already.
  const isNew = ending.parked === undefined || commits.header.notUndone === undefined;
  if (isNew) context.log.error({ tool: flow.name, session: toShortId(header.id), steps }, 'flow.not-undone');
  if (await givenUp(runner, { ...ending, tries: maxUndoAttempts(context) }, left)) {
    onTold(commits.header);
    if (isNew) host.emit({ kind: 'undo-failed', header: toClientHeader(commits.header), steps });
    return commits.current();
  }
  const turn = await end(steps);
  if (isNew) host.emit({ kind: 'undo-failed', header: turn.header, steps });
  return turn;
}

/** Another try cannot succeed. */
function isHopeless({ spec, done }: Effect): boolean {
  return spec !== undefined && !done && spec.options.effect === 'once' && !spec.options.check;
}

/** Parks the session until a version that can undo its effects is served. False once that took too long. */
async function setAside({ input, commits }: RunningTurn, ending: EarlyEnd): Promise<boolean> {
  const { context, flow } = input;
  const change = 'it has no undo for effects that have begun';
  const { patch, dueAt } = toParkedPatch(
    input,
    { ...commits.header, state: 'processing', parked: ending.parked },
    new GatewayError('FLOW_CHANGED', { tool: flow.name, change }),
  );
  if (dueAt <= context.clock.now()) return false;
  context.log.error({ tool: flow.name, session: toShortId(input.header.id) }, 'flow.parked');
  if (!ending.parked) context.counts.parked(input.header);
  const header = await commits.write({ pending: { ...ending, parked: patch.parked } }, [], { dueAt });
  return header !== undefined;
}

/** Parks the session in a durable store, so that an operator can try again (`parley flows retry`). False: it ends now. */
async function givenUp({ input, commits }: RunningTurn, ending: EarlyEnd, left: Effect[]): Promise<boolean> {
  const { context } = input;
  if (!context.lasting || !context.store.durable || left.every(isHopeless)) return false;
  const steps = left.map(({ key }) => key);
  const reason = `effects could not be undone: ${steps.join(', ')}`;
  const before = commits.header.notUndone ? ending.parked : undefined;
  const parked = { reason, at: before?.at ?? context.clock.now() };
  const dueAt = parked.at + context.limits.parkedMs;
  if (dueAt <= context.clock.now()) return false;
  const header = await commits.write({ pending: { ...ending, parked }, notUndone: steps }, [], { dueAt });
  return header !== undefined;
}

export function maxUndoAttempts({ lasting, limits }: SessionContext): number {
  return lasting ? limits.undoAttempts : Math.min(limits.undoAttempts, ATTEMPTS_IN_A_REQUEST);
}

/** Pauses before the next round. False if the signal aborts meanwhile. */
export function pauseBeforeUndo({ clock }: SessionContext, tries: number, signal?: AbortSignal): Promise<boolean> {
  return pause(clock, Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS), signal);
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
      context.log.warn({ ...about, ...findPlace(error) }, 'flow.undo-failed');
      left.unshift(effect);
      continue;
    }
    const written = await commits.write({}, [{ t: 'undo', k: effect.key, ts: context.clock.now() }]);
    if (!written) throw new GatewayError('STORE_FAILED', { reason: `another process undoes ${effect.key}` });
  }
  return left;
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
  const step = { context, sessionId, principal, tool: flow.name, spec, folded, signal: () => signal };
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
