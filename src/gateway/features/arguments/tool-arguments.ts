// Steps that edit calls, and the listed input schemas of tools, by configured arguments.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { isGatewayTool } from '../../../kernel/gateway-tool.ts';
import { LIST_TOOLS, RUN_METHODS } from '../../../kernel/methods.ts';
import type { Next, Origin, Outcome, Step, StepExchange } from '../../../kernel/step.ts';
import { ToolAnnotations } from '../../chain/tool-annotations.ts';
import { toListEntries } from '../../chain/list-entries.ts';
import type { ListEntry } from '../../chain/list-entries.ts';
import { badOption } from '../../chain/step-options.ts';
import type { ChainLookup } from '../../chain/map-names.ts';
import { toNameRule, toToolRules } from '../../matching/name-rule.ts';

/** By name or glob of the tool; later entries win. */
type ToolArguments = Record<string, JsonObject>;

/**
 * Fills in omitted arguments. The listed schema shows the defaults and no longer requires them.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { defaults } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [defaults({ search: { limit: 10 } })] });
 * ```
 */
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

/**
 * Sets arguments that clients cannot choose: the listed schema omits them, and the values of a call are replaced.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { fixed } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [fixed({ search: { org: 'acme' } })] });
 * ```
 */
export function fixed(byTool: ToolArguments): Step {
  return argumentStep('fixed', byTool, { edit: (given, set) => ({ ...given, ...set }), show: withoutValues });
}

function withoutValues(properties: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(values, name)));
}

/** The arguments of a tool, or undefined. */
type ArgumentsOf = (tool: unknown, origin?: Origin) => JsonObject | undefined;

/** What a step does with the configured arguments. */
interface ArgumentUse {
  edit: (given: JsonObject, set: JsonObject) => JsonObject;
  /** Edits the properties of the listed schema. */
  show: (properties: JsonObject, set: JsonObject) => JsonObject;
}

function argumentStep(name: string, byTool: ToolArguments, { edit, show }: ArgumentUse): Step {
  const argumentsOf = readArguments(name, byTool);
  const tools = new ToolAnnotations();
  const editing: ArgumentEdit = { argumentsOf, tools, edit };
  return {
    name,
    toolRules: toToolRules(Object.keys(byTool)),
    methods: [LIST_TOOLS, ...Object.keys(RUN_METHODS)],
    onChange: (change) => tools.hear(change),
    async handle(exchange, next, lookUp, originOf) {
      const ran = runEdited(editing, exchange, next, { lookUp, originOf });
      if (ran) return ran;
      const outcome = await next();
      tools.learn(exchange, outcome.result);
      const shown = toListEntries(outcome.result.tools).map((tool) => {
        const set = isGatewayTool(tool) ? undefined : argumentsOf(tool.name, originOf?.('tools', tool.name));
        return set ? editSchema(tool, set, show) : tool;
      });
      outcome.result = { ...outcome.result, tools: shown };
      return outcome;
    },
  } satisfies Step;
}

function readArguments(step: string, given: ToolArguments): ArgumentsOf {
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

interface ArgumentEdit {
  argumentsOf: ArgumentsOf;
  tools: ToolAnnotations;
  edit: ArgumentUse['edit'];
}

/** Edits the arguments of a call and continues; undefined for other requests. */
function runEdited(
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

/** Configured arguments are no longer required. */
function editSchema(tool: ListEntry, set: JsonObject, show: ArgumentUse['show']): ListEntry {
  const { inputSchema } = tool;
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return tool;
  const { required, properties, ...rest } = inputSchema;
  const left = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(set, String(name))) : [];
  const schema = { ...rest, properties: show(properties, set), ...(left.length > 0 && { required: left }) };
  return { ...tool, inputSchema: schema };
}
