// Sets arguments that clients cannot choose: the listed schema omits them, and the values of a call are replaced.
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';
import type { Step } from '../../../../protocol/step.ts';
import { ToolAnnotations } from '../../chain/tool-annotations.ts';
import { toListEntries } from '../../chain/list-entries.ts';
import { toToolRules } from '../filter/name-rule.ts';
import { editSchema, readArguments, runEdited } from './tool-arguments.ts';
import { RUN_METHODS } from '../../../../protocol/methods.ts';
import type { ArgumentEdit, ToolArguments } from './tool-arguments.ts';

export function fixed(byTool: ToolArguments): Step {
  const argumentsOf = readArguments('fixed', byTool);
  const tools = new ToolAnnotations();
  const editing: ArgumentEdit = { argumentsOf, tools, edit: (given, set) => ({ ...given, ...set }) };
  return {
    name: 'fixed',
    toolRules: toToolRules(Object.keys(byTool)),
    methods: ['tools/list', ...Object.keys(RUN_METHODS)],
    onChange: (change) => tools.hear(change),
    handle: async function fixed(exchange, next, lookUp, originOf) {
      const ran = runEdited(editing, exchange, next, { lookUp, originOf });
      if (ran) return ran;
      const outcome = await next();
      tools.learn(exchange, outcome.result);
      const shown = toListEntries(outcome.result.tools).map((tool) => {
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
