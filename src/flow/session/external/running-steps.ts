// The steps that run in this process. When entries of another process come first, the run of the body is replaced by a new one; the steps
// continue, and the new run adopts them when it reaches them.
import type { RunState } from '../../engine/run-state.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import type { PendingStep } from '../../engine/pending-ask.ts';
import type { JournalEntry, StepEntry } from '../../journal.ts';
import type { PromptStep } from '../../../protocol/form/prompt.ts';
import type { Cancellation } from '../../../shared/cancellation.ts';
import type { TurnInput } from '../turn/turn-input.ts';
import { isOutcomeUnknown, runStep, toIdempotencyKey } from '../turn/run-step.ts';

interface Working {
  run: BodyRun;
  want: PendingStep;
  /** The result, until it is written. */
  entry?: StepEntry | undefined;
}

/** The signals for steps and for cleanup steps. */
export interface StepSignals {
  work: Cancellation;
  cleanup: Cancellation;
}

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
  start(run: BodyRun, wants: readonly PendingStep[], isEnding: boolean): void {
    for (const want of wants) {
      const { key, options } = want.spec;
      if (this.#steps.has(key)) this.#takeUp(run, want);
      else if (!isEnding || options.cleanup) this.#begin(run, want);
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
  unknownOf(run: BodyRun, wants: readonly PendingStep[]): string | undefined {
    const isNew = ({ spec }: PendingStep) => !this.#steps.has(spec.key);
    return wants.find((want) => isNew(want) && isOutcomeUnknown(want.spec, run.input.folded))?.spec.key;
  }

  /** The results are written. */
  written(entries: readonly JournalEntry[]): void {
    for (const entry of entries) if (entry.t === 'step') this.#steps.delete(entry.k);
  }

  #begin(run: BodyRun, want: PendingStep): void {
    const { spec } = want;
    const { context, header } = this.#input;
    const step: Working = { run, want };
    this.#steps.set(spec.key, step);
    this.began.add(spec.key);
    run.stepStarted(want);
    const { id: sessionId, principal } = header;
    const abort = spec.options.cleanup ? this.#signals.cleanup : this.#signals.work;
    const signal = () => abort.signal;
    const onProgress = (progress: PromptStep) => this.#input.host.emit({ kind: 'progress', header, progress });
    const { folded } = run.input;
    void runStep({ context, sessionId, principal, spec, folded, signal, onProgress }).then((entry) => {
      step.entry = entry;
      step.run.stepFinished(step.want, entry);
    });
  }

  /** A new run of the body has reached a running step. */
  #takeUp(run: BodyRun, want: PendingStep): void {
    const step = this.#steps.get(want.spec.key)!;
    Object.assign(step, { run, want });
    run.stepStarted(want);
    if (step.entry) run.stepFinished(want, step.entry);
  }
}
