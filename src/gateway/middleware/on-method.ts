// Steps for some methods only. All other methods pass them by at no cost.
import type { Step, StepFunction } from '../../protocol/step.ts';

export const LIST_METHODS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const;

export function onMethod(methods: string | readonly string[], handle: StepFunction): Step {
  const named = typeof methods === 'string' ? [methods] : methods;
  return { name: handle.name || named.join(', '), methods: named, handle };
}

/** For tools/call. */
export function onCall(handle: StepFunction): Step {
  return onMethod('tools/call', handle);
}

/** For the lists of tools, prompts, resources and resource templates. */
export function onList(handle: StepFunction): Step {
  return onMethod(LIST_METHODS, handle);
}
