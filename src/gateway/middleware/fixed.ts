// Arguments that clients cannot set: they are not in the listed schema, and whatever a call has in their place is replaced.
import type { Step } from '../../protocol/step.ts';
import { toListed } from './list-all.ts';
import { RUNNING, editArguments, editSchema, readArguments } from './tool-arguments.ts';
import type { ToolArguments } from './tool-arguments.ts';

export function fixed(byTool: ToolArguments): Step {
  const argumentsOf = readArguments('fixed', byTool);
  return {
    name: 'fixed',
    methods: ['tools/list', ...Object.keys(RUNNING)],
    handle: async function fixed(exchange, next) {
      if (editArguments(exchange, argumentsOf, (given, set) => ({ ...given, ...set }))) return next();
      const outcome = await next();
      const tools = toListed(outcome.result.tools).map((tool) => {
        const values = argumentsOf(tool.name);
        if (!values) return tool;
        return editSchema(tool, values, (properties) =>
          Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(values, name))),
        );
      });
      outcome.result = { ...outcome.result, tools };
      return outcome;
    },
  } satisfies Step;
}
