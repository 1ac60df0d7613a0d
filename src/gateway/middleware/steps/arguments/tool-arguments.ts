// Arguments by tool, for the steps that set some: which hold for a tool, and its input schema with and without them.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import type { Next, Origin, Outcome, StepExchange } from '../../../../protocol/step.ts';
import type { ToolAnnotations } from '../../chain/tool-annotations.ts';
import type { ListEntry } from '../../chain/list-entries.ts';
import type { ChainLookup } from '../names/name-mapper.ts';
import { toNameRule } from '../filter/name-rule.ts';
import { badOption } from '../../chain/step-options.ts';
import { dictionary } from '../../../../shared/containers/dictionary.ts';

/** By name or glob of the tool; where several fit, the later one counts. */
export type ToolArguments = Record<string, JsonObject>;

/** What holds for a tool, or undefined. */
export type ArgumentsOf = (tool: unknown, origin?: Origin) => JsonObject | undefined;

export function readArguments(step: string, given: ToolArguments): ArgumentsOf {
  if (!isObject(given)) throw badOption(step, 'must name tools, each with its arguments');
  const rules = Object.entries(given).map(([pattern, values]) => {
    if (!isObject(values)) throw badOption(`${step}.${pattern}`, 'must be an object with arguments');
    return { fits: toNameRule([pattern]), values };
  });
  return (tool, origin) => {
    const meant = typeof tool === 'string' ? rules.filter(({ fits }) => fits(tool, origin)) : [];
    return meant.length === 0 ? undefined : Object.assign({}, ...meant.map(({ values }) => values));
  };
}

/** The requests that run a tool with arguments, and where these and its name stand in them. */
export const RUN_METHODS: Readonly<Record<string, { name: string; args: string }>> = dictionary({
  'tools/call': { name: 'name', args: 'arguments' },
  'interaction.start': { name: 'toolName', args: 'initialParams' },
});

export interface ArgumentEdit {
  argumentsOf: ArgumentsOf;
  tools: ToolAnnotations;
  edit: (given: JsonObject, set: JsonObject) => JsonObject;
}

/** Changes the arguments of a tool that is to be run, and runs it; undefined where the request is another one. */
export function runEdited(
  { argumentsOf, tools, edit }: ArgumentEdit,
  exchange: StepExchange,
  next: Next,
  around: ChainLookup,
): Promise<Outcome> | undefined {
  const places = RUN_METHODS[exchange.method];
  if (!places) return undefined;
  const tool = exchange.params[places.name];
  if (typeof tool !== 'string' || exchange.ownTool?.name === tool) return next();
  const run = (): Promise<Outcome> => {
    const set = argumentsOf(tool, around.originOf?.('tools', tool));
    const given = exchange.params[places.args] ?? {};
    // Of what is no object the server will say what is wrong with it.
    if (set && isObject(given)) exchange.params = { ...exchange.params, [places.args]: edit(given, set) };
    return next();
  };
  return tools.checkListed(tool, exchange, around)?.then(run) ?? run();
}

/** Changes the properties of the input schema, and takes those that are set here from the required ones. */
export function editSchema(tool: ListEntry, set: JsonObject, edit: (properties: JsonObject) => JsonObject): ListEntry {
  const { inputSchema } = tool;
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return tool;
  const { required, properties, ...rest } = inputSchema;
  const left = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(set, String(name))) : [];
  const schema = { ...rest, properties: edit(properties), ...(left.length > 0 && { required: left }) };
  return { ...tool, inputSchema: schema };
}
