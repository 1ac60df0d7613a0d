// Arguments by tool, for the steps that set some: which hold for a tool, and its input schema with and without them.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { StepExchange } from '../../protocol/step.ts';
import { toMatcher } from './glob.ts';
import type { Listed } from './list-all.ts';
import { badOption } from './step-options.ts';

/** By name or glob of the tool; where several fit, the later one counts. */
export type ToolArguments = Record<string, JsonObject>;

/** What holds for a tool, or undefined. */
export function readArguments(step: string, given: ToolArguments): (tool: unknown) => JsonObject | undefined {
  if (!isObject(given)) throw badOption(step, 'must name tools, each with its arguments');
  const rules = Object.entries(given).map(([pattern, values]) => {
    if (!isObject(values)) throw badOption(`${step}.${pattern}`, 'must be an object with arguments');
    return { fits: toMatcher([pattern]), values };
  });
  return (tool) => {
    const meant = typeof tool === 'string' ? rules.filter(({ fits }) => fits(tool)) : [];
    return meant.length === 0 ? undefined : Object.assign({}, ...meant.map(({ values }) => values));
  };
}

/** Changes the arguments of a call. */
export function editArguments(exchange: StepExchange, edit: (given: JsonObject) => JsonObject): void {
  const { arguments: given } = exchange.params;
  if (given !== undefined && !isObject(given)) return; // the server will say what is wrong with it
  exchange.params = { ...exchange.params, arguments: edit(given ?? {}) };
}

/** Changes the properties of the input schema, and takes those that are set here from the required ones. */
export function editSchema(tool: Listed, set: JsonObject, edit: (properties: JsonObject) => JsonObject): Listed {
  const { inputSchema } = tool;
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return tool;
  const { required, properties, ...rest } = inputSchema;
  const left = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(set, String(name))) : [];
  const schema = { ...rest, properties: edit(properties), ...(left.length > 0 && { required: left }) };
  return { ...tool, inputSchema: schema };
}
