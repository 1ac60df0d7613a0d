// A step that was given as a function, with a name for errors and logs.
import type { Step, StepFunction } from '../../protocol/step.ts';

export function toStep(step: Step | StepFunction, index: number): Step {
  return typeof step === 'function' ? { name: step.name || `steps[${index}]`, handle: step } : step;
}
