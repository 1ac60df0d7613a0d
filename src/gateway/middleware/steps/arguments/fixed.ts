// Arguments that clients cannot set: they are not in the listed schema, and whatever a call has in their place is replaced.
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';
import type { Step } from '../../../../protocol/step.ts';
import { KnownTools } from '../../chain/known-tools.ts';
import { toListed } from '../../chain/list-all.ts';
import { toToolRules } from '../filter/name-rule.ts';
import { RUNNING, editSchema, readArguments, runEdited } from './tool-arguments.ts';
import type { Editing, ToolArguments } from './tool-arguments.ts';

export function fixed(byTool: ToolArguments): Step {
  const argumentsOf = readArguments('fixed', byTool);
  const tools = new KnownTools();
  const editing: Editing = { argumentsOf, tools, edit: (given, set) => ({ ...given, ...set }) };
  return {
    name: 'fixed',
    toolRules: toToolRules(Object.keys(byTool)),
    methods: ['tools/list', ...Object.keys(RUNNING)],
    onChange: (change) => tools.hear(change),
    handle: async function fixed(exchange, next, lookUp, originOf) {
      const ran = runEdited(editing, exchange, next, { lookUp, originOf });
      if (ran) return ran;
      const outcome = await next();
      tools.learn(exchange, outcome.result);
      const shown = toListed(outcome.result.tools).map((tool) => {
        const values = isGatewayTool(tool) ? undefined : argumentsOf(tool.name, originOf?.('tools', tool.name));
        if (!values) return tool;
        return editSchema(tool, values, (properties) =>
          Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(values, name))),
        );
      });
      outcome.result = { ...outcome.result, tools: shown };
      return outcome;
    },
  } satisfies Step;
}
