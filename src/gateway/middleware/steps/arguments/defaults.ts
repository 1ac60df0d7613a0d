// Fills in omitted arguments. The listed schema shows the defaults and no longer requires them.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import type { Step } from '../../../../protocol/step.ts';
import { argumentStep } from './tool-arguments.ts';
import type { ToolArguments } from './tool-arguments.ts';

export function defaults(byTool: ToolArguments): Step {
  return argumentStep('defaults', byTool, { edit: (given, set) => ({ ...set, ...given }), show: withValues });
}

function withValues(properties: JsonObject, values: JsonObject): JsonObject {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const isSet = Object.hasOwn(values, name) && isObject(schema);
    return [name, isSet ? { ...schema, default: values[name] } : schema];
  });
  return Object.fromEntries(entries) as JsonObject;
}
