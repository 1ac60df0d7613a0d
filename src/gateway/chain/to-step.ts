// Makes steps of functions: of those that a gateway is given, and for some methods only, so that other methods bypass them at no cost.
import type { Step, StepFunction, StepFunctionOf, StepMethod } from '../../kernel/step.ts';
import { CALL_TOOL, LIST_METHODS } from '../../kernel/methods.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

/** Names functions for errors and logs, and rejects anything else at once, because JavaScript programs have no types to do so. */
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

/**
 * A step for methods of the protocol, with the types of their params and results; a misspelled one does not compile.
 *
 * @example
 * ```ts
 * import { onMethod } from 'mcp-parley/middleware';
 *
 * const greet = onMethod('prompts/get', (exchange, next) => {
 *   exchange.params = { ...exchange.params, arguments: { ...exchange.params.arguments, tone: 'friendly' } };
 *   return next();
 * });
 * ```
 */
export function onMethod<M extends StepMethod>(methods: M | readonly M[], handle: StepFunctionOf<M>): Step {
  return onCustomMethod(methods, handle as unknown as StepFunction);
}

/**
 * A step for methods outside the protocol.
 *
 * @example
 * ```ts
 * import { respond } from 'mcp-parley';
 * import { onCustomMethod } from 'mcp-parley/middleware';
 *
 * const version = onCustomMethod('acme/version', () => respond({ version: '1.0.0' }));
 * ```
 */
export function onCustomMethod(methods: string | readonly string[], handle: StepFunction): Step {
  const named = typeof methods === 'string' ? [methods] : methods;
  return { name: handle.name || named.join(', '), methods: named, handle };
}

/**
 * A step for tools/call.
 *
 * @example
 * ```ts
 * import { onCall } from 'mcp-parley/middleware';
 *
 * const stamp = onCall(async (exchange, next) => {
 *   const outcome = await next();
 *   outcome.result = { ...outcome.result, _meta: { tool: exchange.params.name } };
 *   return outcome;
 * });
 * ```
 */
export function onCall(handle: StepFunctionOf<typeof CALL_TOOL>): Step {
  return onMethod(CALL_TOOL, handle);
}

/**
 * A step for the lists of tools, prompts, resources and resource templates.
 *
 * @example
 * ```ts
 * import { onList } from 'mcp-parley/middleware';
 *
 * const stamp = onList(async (_exchange, next) => {
 *   const outcome = await next();
 *   outcome.result = { ...outcome.result, _meta: { checked: true } };
 *   return outcome;
 * });
 * ```
 */
export function onList(handle: StepFunctionOf<(typeof LIST_METHODS)[number]>): Step {
  return onMethod(LIST_METHODS, handle);
}
