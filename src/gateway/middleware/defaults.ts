// Arguments for calls that leave them out. The listed schema tells them, and no longer requires them.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Step } from '../../protocol/step.ts';
import { toListed } from './list-all.ts';
import { RUNNING, editArguments, editSchema, readArguments } from './tool-arguments.ts';
import type { ToolArguments } from './tool-arguments.ts';

export function defaults(byTool: ToolArguments): Step {
  const argumentsOf = readArguments('defaults', byTool);
  return {
    name: 'defaults',
    methods: ['tools/list', ...Object.keys(RUNNING)],
    handle: async function defaults(exchange, next) {
      if (editArguments(exchange, argumentsOf, (given, set) => ({ ...set, ...given }))) return next();
      const outcome = await next();
      const tools = toListed(outcome.result.tools).map((tool) => {
        const values = argumentsOf(tool.name);
        return values ? editSchema(tool, values, (properties) => withValues(properties, values)) : tool;
      });
      outcome.result = { ...outcome.result, tools };
      return outcome;
    },
  } satisfies Step;
}

function withValues(properties: JsonObject, values: JsonObject): JsonObject {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const isSet = Object.hasOwn(values, name) && isObject(schema);
    return [name, isSet ? { ...schema, default: values[name] } : schema];
  });
  return Object.fromEntries(entries) as JsonObject;
}
