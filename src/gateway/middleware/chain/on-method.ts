// Creates steps for some methods only. Other methods bypass them at no cost.
import type { StepFunctionOf, StepMethod, Step, StepFunction } from '../../../protocol/step.ts';
import { LIST_METHODS } from '../../../protocol/methods.ts';

/** For methods of the protocol; a misspelled one does not compile. */
export function onMethod<M extends StepMethod>(methods: M | readonly M[], handle: StepFunctionOf<M>): Step {
  return onCustomMethod(methods, handle as unknown as StepFunction);
}

/** For methods outside the protocol. */
export function onCustomMethod(methods: string | readonly string[], handle: StepFunction): Step {
  const named = typeof methods === 'string' ? [methods] : methods;
  return { name: handle.name || named.join(', '), methods: named, handle };
}

/** For tools/call. */
export function onCall(handle: StepFunctionOf<'tools/call'>): Step {
  return onMethod('tools/call', handle);
}

/** For the lists of tools, prompts, resources and resource templates. */
export function onList(handle: StepFunctionOf<(typeof LIST_METHODS)[number]>): Step {
  return onMethod(LIST_METHODS, handle);
}
