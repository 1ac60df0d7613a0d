// Starts and closes the steps of a gateway. A step that replaces one of the same name gets its state.
// 1. Each step is started once before use and closed once after it.
// 2. A step that fails to start changes nothing. One that fails to close is logged.
// 3. A step whose `keep` fails is replaced without its state: its correction could not be loaded otherwise.
import type { Step } from '../../../kernel/step.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError, messageOf, toReadable } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { unlessLate } from '../../../kernel/base/timing.ts';

/** How long closing a gateway waits for its steps. */
const CLOSE_MS = 5000;

export class StepLifecycle {
  readonly #log: Log;
  readonly #clock: Clock;
  #steps: readonly Step[] = [];
  #starting: Promise<unknown> = Promise.resolve();

  constructor({ log, clock }: { log: Log; clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Resolves when all steps have started; rejects if one fails. */
  get started(): Promise<unknown> {
    return this.#starting;
  }

  /** Replaces the steps. Throws if one fails to start. */
  replace(next: readonly Step[]): void {
    const gone = this.#steps.filter((step) => !next.includes(step));
    const fresh = [...new Set(next)].filter((step) => !this.#steps.includes(step));
    const begun: Step[] = [];
    try {
      const starting = fresh.flatMap((step) => {
        const former = gone.find(({ name }) => name === step.name);
        const promise = startStep(step, { former, log: this.#log });
        begun.push(step);
        return promise ?? [];
      });
      this.#starting = Promise.all(starting);
    } catch (thrown) {
      void this.#closeAll(begun);
      throw thrown;
    }
    this.#starting.catch((error: unknown) => this.#log.error({ error }, 'step.not-started'));
    this.#steps = next;
    void this.#closeAll(gone);
  }

  async close(): Promise<void> {
    const steps = this.#steps;
    this.#steps = [];
    await unlessLate(this.#closeAll(new Set(steps)), this.#clock, CLOSE_MS);
  }

  async #closeAll(steps: Iterable<Step>): Promise<void> {
    await Promise.all([...steps].map((step) => closeStep(step, this.#log)));
  }
}

/** `former`: the step, or its earlier version, that is replaced. Throws or rejects if the step fails to start. */
export function startStep(
  step: Step,
  { former, log }: { former?: Step | undefined; log: Log },
): Promise<void> | undefined {
  if (!step.start) return undefined;
  try {
    const started: unknown = step.start(former && keptBy(former, log));
    if (!(started instanceof Promise)) return undefined;
    return started.catch((thrown: unknown) => {
      throw notStarted(step, thrown);
    });
  } catch (thrown) {
    throw notStarted(step, thrown);
  }
}

/** A promise is handed on as it is; its rejection is logged here, in case the next step does not wait for it. */
function keptBy(former: Step, log: Log): unknown {
  const fail = (thrown: unknown): void => log.warn({ step: former.name, error: toReadable(thrown) }, 'step.not-kept');
  try {
    const kept = former.keep?.();
    if (kept instanceof Promise) kept.catch(fail);
    return kept;
  } catch (thrown) {
    fail(thrown);
    return undefined;
  }
}

export async function closeStep(step: Step, log: Log): Promise<void> {
  try {
    await step.close?.();
  } catch (error) {
    log.warn({ step: step.name, error }, 'step.not-closed');
  }
}

function notStarted({ name }: Step, thrown: unknown): GatewayError {
  const reason = `step ${name} could not be started: ${messageOf(thrown)}`;
  return new GatewayError('BAD_OPTION', { option: 'steps', reason }, { cause: thrown });
}
