// Finds the configured arguments of a tool, and edits calls and input schemas with them.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { RUN_METHODS } from '../../../../protocol/methods.ts';
import type { Next, Origin, Outcome, StepExchange } from '../../../../protocol/step.ts';
import type { ToolAnnotations } from '../../chain/tool-annotations.ts';
import type { ListEntry } from '../../chain/list-entries.ts';
import type { ChainLookup } from '../names/map-names.ts';
import { toNameRule } from '../filter/name-rule.ts';
import { badOption } from '../../chain/step-options.ts';

/** By name or glob of the tool; later entries win. */
export type ToolArguments = Record<string, JsonObject>;

/** The arguments of a tool, or undefined. */
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

export interface ArgumentEdit {
  argumentsOf: ArgumentsOf;
  tools: ToolAnnotations;
  edit: (given: JsonObject, set: JsonObject) => JsonObject;
}

/** Edits the arguments of a call and continues; undefined for other requests. */
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
    // The server rejects arguments that are not an object.
    if (set && isObject(given)) exchange.params = { ...exchange.params, [places.args]: edit(given, set) };
    return next();
  };
  return tools.checkListed(tool, exchange, around)?.then(run) ?? run();
}

/** Edits the properties of an input schema; configured arguments are no longer required. */
export function editSchema(tool: ListEntry, set: JsonObject, edit: (properties: JsonObject) => JsonObject): ListEntry {
  const { inputSchema } = tool;
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return tool;
  const { required, properties, ...rest } = inputSchema;
  const left = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(set, String(name))) : [];
  const schema = { ...rest, properties: edit(properties), ...(left.length > 0 && { required: left }) };
  return { ...tool, inputSchema: schema };
}
