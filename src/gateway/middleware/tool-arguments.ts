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

/** The requests that run a tool with arguments, and where these and its name stand in them. */
export const RUNNING: Readonly<Record<string, { name: string; args: string }>> = {
  'tools/call': { name: 'name', args: 'arguments' },
  'interaction.start': { name: 'toolName', args: 'initialParams' },
};

/** Changes the arguments of a tool that is to be run; false where the request is another one. */
export function editArguments(
  exchange: StepExchange,
  argumentsOf: (tool: unknown) => JsonObject | undefined,
  edit: (given: JsonObject, set: JsonObject) => JsonObject,
): boolean {
  const places = RUNNING[exchange.method];
  if (!places) return false;
  const set = argumentsOf(exchange.params[places.name]);
  const given = exchange.params[places.args] ?? {};
  // Of what is no object the server will say what is wrong with it.
  if (set && isObject(given)) exchange.params = { ...exchange.params, [places.args]: edit(given, set) };
  return true;
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
