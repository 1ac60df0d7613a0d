// Normalizes the steps given to a gateway: names functions for errors and logs, and rejects anything else at once, because
// JavaScript programs have no types to do so.
import type { Step, StepFunction } from '../../../protocol/step.ts';
import { GatewayError } from '../../../shared/errors.ts';

export function toStep(step: Step | StepFunction, index: number): Step {
  if (typeof step === 'function') return { name: step.name || `steps[${index}]`, handle: step };
  const reason = whyNot(step);
  if (reason !== undefined) throw new GatewayError('BAD_OPTION', { option: `steps[${index}]`, reason });
  return step;
}

function whyNot(step: unknown): string | undefined {
  if (typeof step === 'string')
    return `"${step}" is a name; in a program, call the step: import { ${toName(step)} } from 'mcp-parley/middleware'`;
  if (typeof step !== 'object' || step === null)
    return `${String(step)} cannot be a step; give a function or { name, handle }`;
  if (typeof (step as Step).name !== 'string') return 'a step needs a name; give a function or { name, handle }';
  const doesNothing = !Object.values(step).some((part) => typeof part === 'function' || typeof part === 'object');
  return doesNothing ? `step ${(step as Step).name} does nothing; give it a handle` : undefined;
}

/** The name to import. */
function toName(step: string): string {
  return /^[a-z]\w*$/i.test(step) ? step : 'filter';
}
