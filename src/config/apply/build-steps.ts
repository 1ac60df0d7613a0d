// Builds the steps of a configuration. Steps from files reload when they change, until they are closed.
import { findBuiltIn } from '../../gateway/middleware/chain/step-order.ts';
import { watchStep } from '../../gateway/middleware/load/watch-step.ts';
import type { Step } from '../../protocol/step.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import type { ParleyConfig } from '../config.ts';
import { isStepFile, splitStep } from '../normalize-step.ts';

export interface BuildStepOptions {
  log: Log;
  /** Where the step "log" writes. Default: JSON lines on stderr. */
  stepLog?: Log | undefined;
  /** Whether code may be loaded from the files of steps as they are at this moment. Default: yes. */
  isStillTrusted?: (() => boolean) | undefined;
  /** Called when a step has reloaded, as lists may have changed. */
  onStepReload?: (() => void) | undefined;
}

export interface BuiltSteps {
  /** Outermost first, as listed. */
  readonly steps: Step[];
  close(): void;
}

export async function buildSteps({ steps }: ParleyConfig, options: BuildStepOptions): Promise<BuiltSteps> {
  const made: { step: Step; close(): void }[] = [];
  const close = () => made.forEach((step) => step.close());
  try {
    for (const form of steps) made.push(await buildStep(splitStep(form), options));
    const hasFiles = steps.some((form) => isStepFile(splitStep(form).name));
    if (hasFiles && options.isStillTrusted?.() === false)
      throw new GatewayError('BAD_OPTION', { option: 'steps', reason: 'a file changed while it was loaded' });
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { steps: made.map(({ step }) => step), close };
}

async function buildStep(
  { name, options }: { name: string; options: Record<string, unknown> },
  { log, stepLog, onStepReload: onReload, isStillTrusted }: BuildStepOptions,
): Promise<{ step: Step; close(): void }> {
  if (isStepFile(name)) return watchStep(name, { options, log, onReload, isStillTrusted });
  const create = findBuiltIn(name);
  if (!create) throw new GatewayError('BAD_OPTION', { option: 'steps', reason: `no step is called "${name}"` });
  const given = name === 'log' && stepLog ? { log: stepLog, ...options } : options;
  return { step: create(given), close: () => {} };
}
