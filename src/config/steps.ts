// The steps of a configuration, made: built-in ones by their name, others from files of the user.
import type { Step, StepFunction } from '../protocol/step.ts';
import { GatewayError } from '../shared/errors.ts';
import type { ParleyConfig } from './config.ts';
import { isStepFile, toStep } from './step-form.ts';

/** Where steps come from. */
export interface StepSource {
  /** Makes a built-in step; undefined for a name that none has. */
  byName(name: string): ((options: Record<string, unknown>) => Step | StepFunction) | undefined;
  /** Loads a step from a file, as it is now. */
  loadStep(path: string, options: Record<string, unknown>): Promise<Step | StepFunction>;
}

/** Outermost first, as they are listed. */
export function buildSteps({ steps }: ParleyConfig, source: StepSource): Promise<(Step | StepFunction)[]> {
  return Promise.all(
    steps.map(async (written) => {
      const { name, options } = toStep(written);
      if (isStepFile(name)) return source.loadStep(name, options);
      const make = source.byName(name);
      if (make) return make(options);
      throw new GatewayError('BAD_OPTION', { option: 'steps', reason: `no step is called "${name}"` });
    }),
  );
}
