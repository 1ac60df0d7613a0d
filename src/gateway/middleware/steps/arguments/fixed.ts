// Sets arguments that clients cannot choose: the listed schema omits them, and the values of a call are replaced.
import type { JsonObject } from '../../../../protocol/message.ts';
import type { Step } from '../../../../protocol/step.ts';
import { argumentStep } from './tool-arguments.ts';
import type { ToolArguments } from './tool-arguments.ts';

export function fixed(byTool: ToolArguments): Step {
  return argumentStep('fixed', byTool, { edit: (given, set) => ({ ...given, ...set }), show: withoutValues });
}

function withoutValues(properties: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(values, name)));
}
