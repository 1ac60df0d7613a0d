// The steps of a session that run in this process: which begin, what is written before an effect begins, and the entry that each ends with.
import type { PromptStep } from '../../../kernel/form/prompt.ts';
import type { Cancellation } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { pause } from '../../../kernel/base/timing.ts';
import type { StepContext } from '../../authoring/step.ts';
import { guarded, toJsonValue } from '../../engine/author-code.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import { findPlace, isMisuse, toErrorEntry, withFlowName } from '../../engine/misuse.ts';
import type { StepSpec, RunState, PendingStep } from '../../engine/pending-ask.ts';
import type { FoldedJournal } from '../../fold.ts';
import type { StepEntry, JournalEntry } from '../../journal.ts';
import { toShortId } from '../../session-id.ts';
import { runWithinTimeout, toIdempotencyKey } from './step-attempt.ts';
import type { StepExecution } from './step-attempt.ts';
import { toRetryPause } from '../context/step-limits.ts';
import type { FailedTry } from '../context/step-limits.ts';
import type { TurnInput } from './turn-request.ts';

interface Working {
  run: BodyRun;
  pending: PendingStep;
  /** The result, until it is written. */
  entry?: StepEntry | undefined;
}

/** The signals for steps and for cleanup steps. */
interface StepSignals {
  work: Cancellation;
  cleanup: Cancellation;
}

/**
 * The steps that run in this process. When entries of another process come first, the run of the body is replaced by a new one; the steps
 * continue, and the new run adopts them when it reaches them.
 */
export class RunningSteps {
  /** Keys of the steps that this process has begun. */
  readonly began = new Set<string>();
  readonly #input: TurnInput;
  readonly #signals: StepSignals;
  readonly #steps = new Map<string, Working>();

  constructor(input: TurnInput, signals: StepSignals) {
    this.#input = input;
    this.#signals = signals;
  }

  /** While the session ends, only cleanup steps start. */
  start(run: BodyRun, steps: readonly PendingStep[], isEnding: boolean): void {
    for (const pending of steps) {
      const { key, options } = pending.spec;
      if (this.#steps.has(key)) this.#takeUp(run, pending);
      else if (!isEnding || options.cleanup) this.#begin(run, pending);
    }
  }

  /** The entries to write before effects begin. */
  intents(run: BodyRun, rest: RunState | undefined): JournalEntry[] {
    if (rest?.kind !== 'steps') return [];
    const { context, header } = this.#input;
    const begin = rest.steps.filter(({ spec }) => spec.options.effect !== undefined && !this.#steps.has(spec.key));
    return begin.map(({ spec: { key: k, options } }) => ({
      t: 'int',
      k,
      idem: toIdempotencyKey(header.id, k, run.input.folded),
      ...(options.undo && !options.cleanup && { undo: true }),
      ts: context.clock.now(),
    }));
  }

  /** The key of an effect whose outcome is unknown and that must not run again. */
  unknownOf(run: BodyRun, steps: readonly PendingStep[]): string | undefined {
    const isNew = ({ spec }: PendingStep) => !this.#steps.has(spec.key);
    return steps.find((pending) => isNew(pending) && isOutcomeUnknown(pending.spec, run.input.folded))?.spec.key;
  }

  /** The results are written. */
  written(entries: readonly JournalEntry[]): void {
    for (const entry of entries) if (entry.t === 'step') this.#steps.delete(entry.k);
  }

  #begin(run: BodyRun, pending: PendingStep): void {
    const { spec } = pending;
    const { context, header } = this.#input;
    const step: Working = { run, pending };
    this.#steps.set(spec.key, step);
    this.began.add(spec.key);
    run.stepStarted(pending);
    const { id: sessionId, principal } = header;
    const abort = spec.options.cleanup ? this.#signals.cleanup : this.#signals.work;
    const signal = () => abort.signal;
    const onProgress = (progress: PromptStep) => this.#input.host.emit({ kind: 'progress', header, progress });
    const { folded } = run.input;
    void runStep({ context, sessionId, principal, tool: header.tool, spec, folded, signal, onProgress }).then(
      (entry) => {
        step.entry = entry;
        step.run.stepFinished(step.pending, entry);
      },
    );
  }

  /** A new run of the body has reached a running step. */
  #takeUp(run: BodyRun, pending: PendingStep): void {
    const step = this.#steps.get(pending.spec.key)!;
    Object.assign(step, { run, pending });
    run.stepStarted(pending);
    if (step.entry) run.stepFinished(pending, step.entry);
  }
}

/** Returns the journal entry of a step. Never throws. */
async function runStep(run: StepExecution): Promise<StepEntry> {
  const { context, spec, folded } = run;
  const { limit } = spec.options;
  const began = context.clock.now();
  let att = (folded.intents.get(spec.key)?.count ?? 0) + 1;
  const done = (outcome: Pick<StepEntry, 'v' | 'e'>): StepEntry => ({
    t: 'step',
    k: spec.key,
    ...outcome,
    att,
    ts: context.clock.now(),
  });
  const once = () => runWithinTimeout(run, att, work(run, att));
  for (let tried = 1; ; tried++, att++) {
    try {
      const value = await (limit ? context.stepLimits.run(limit, once) : once());
      const plain = toJsonValue(value, `the result of step ${spec.key}`, context.limits.stepBytes);
      return done(plain === undefined ? {} : { v: plain });
    } catch (error) {
      const ms = pauseAfter(run, { error, tried, elapsedMs: context.clock.now() - began });
      // The session may end meanwhile.
      if (ms === undefined || !(await pause(context.clock, ms, run.signal())))
        return done({ e: toErrorEntry(withFlowName(error, run.tool)) });
    }
  }
}

/** Undefined after the last attempt; also if the author's `retry` throws, which is logged with its line. */
function pauseAfter(run: StepExecution, failed: FailedTry): number | undefined {
  if (isMisuse(failed.error)) logMisuse(run, failed.error);
  try {
    return guarded(`retry of step ${run.spec.key}`, () => toRetryPause(run.spec.options.retry, failed));
  } catch (error) {
    logMisuse(run, error);
    return undefined;
  }
}

function logMisuse({ context, sessionId, spec }: StepExecution, error: unknown): void {
  const about = { session: toShortId(sessionId), step: spec.key, error, ...findPlace(error) };
  context.log.warn(about, 'flow.misused');
}

/** An effect that must happen once, may have happened, and has no `check`. */
function isOutcomeUnknown({ key, options }: StepSpec, { intents }: FoldedJournal): boolean {
  return options.effect === 'once' && options.check === undefined && intents.has(key);
}

function work({ context, spec }: StepExecution, attempt: number): (step: StepContext) => unknown {
  const { check, effect } = spec.options;
  if (effect !== 'once') return spec.work;
  return async (step) => {
    const isFirst = attempt === 1 && ((await context.claimOnce?.(step.idempotencyKey)) ?? true);
    if (isFirst) return spec.work(step);
    if (!check) throw new GatewayError('FLOW_EFFECT_UNKNOWN', { step: spec.key });
    return (await check(step)) ?? spec.work(step);
  };
}
