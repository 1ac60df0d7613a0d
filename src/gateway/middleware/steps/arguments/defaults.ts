// Fills in omitted arguments. The listed schema shows the defaults and no longer requires them.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';
import type { Step } from '../../../../protocol/step.ts';
import { ToolAnnotations } from '../../chain/tool-annotations.ts';
import { toListEntries } from '../../chain/list-entries.ts';
import { toToolRules } from '../filter/name-rule.ts';
import { editSchema, readArguments, runEdited } from './tool-arguments.ts';
import { RUN_METHODS } from '../../../../protocol/methods.ts';
import type { ArgumentEdit, ToolArguments } from './tool-arguments.ts';

export function defaults(byTool: ToolArguments): Step {
  const argumentsOf = readArguments('defaults', byTool);
  const tools = new ToolAnnotations();
  const editing: ArgumentEdit = { argumentsOf, tools, edit: (given, set) => ({ ...set, ...given }) };
  return {
    name: 'defaults',
    toolRules: toToolRules(Object.keys(byTool)),
    methods: ['tools/list', ...Object.keys(RUN_METHODS)],
    onChange: (change) => tools.hear(change),
    handle: async function defaults(exchange, next, lookUp, originOf) {
      const ran = runEdited(editing, exchange, next, { lookUp, originOf });
      if (ran) return ran;
      const outcome = await next();
      tools.learn(exchange, outcome.result);
      const shown = toListEntries(outcome.result.tools).map((tool) => {
        const values = isGatewayTool(tool) ? undefined : argumentsOf(tool.name, originOf?.('tools', tool.name));
        return values ? editSchema(tool, values, (properties) => withValues(properties, values)) : tool;
      });
      outcome.result = { ...outcome.result, tools: shown };
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
