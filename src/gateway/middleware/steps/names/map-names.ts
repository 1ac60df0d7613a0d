// Changes names consistently: one mapping of list entries applies to lists, calls, completion and change notifications. All steps
// that rename or hide tools and prompts use it.
// 1. Before an unlisted name is refused, the lists are fetched to find it.
// 2. A hidden or renamed entry cannot be called by its own name.
import { isObject } from '../../../../protocol/message.ts';
import type { JsonObject } from '../../../../protocol/message.ts';
import type { Next, Outcome, Step, StepExchange, StepFunction, ToolRule } from '../../../../protocol/step.ts';
import { GatewayError } from '../../../../shared/errors.ts';
import { toListEntries } from '../../chain/list-entries.ts';
import { NameMapper } from './name-mapper.ts';
import type { ChainLookup, MapEntry } from './name-mapper.ts';
import { respond } from '../../chain/outcome.ts';

export interface NameMapping {
  /** The name of the step, for errors. */
  name: string;
  tools?: MapEntry | undefined;
  prompts?: MapEntry | undefined;
  /** Refuses unlisted names, although a server might know them: for steps that withhold things from clients. */
  strict?: boolean | undefined;
  toolRules?: readonly ToolRule[] | undefined;
}

export function mapNames({ name, tools, prompts, strict = false, toolRules }: NameMapping): Step {
  const toolNames = tools && new NameMapper(name, 'tools', tools);
  const promptNames = prompts && new NameMapper(name, 'prompts', prompts);
  const handlers: Record<string, StepFunction> = {};
  if (toolNames) {
    handlers['tools/list'] = showEntries(toolNames, 'tools');
    handlers['tools/call'] = resolveName(toolNames, { key: 'name', unknown: 'TOOL_NOT_FOUND', strict });
    handlers['interaction.start'] = resolveName(toolNames, { key: 'toolName', unknown: 'INVALID_PARAMS', strict });
    handlers['interaction.getState'] = showToolName(toolNames);
  }
  if (promptNames) {
    handlers['prompts/list'] = showEntries(promptNames, 'prompts');
    handlers['prompts/get'] = resolveName(promptNames, { key: 'name', unknown: 'PROMPT_NOT_FOUND', strict });
    handlers['completion/complete'] = completePrompt(promptNames, strict);
  }
  return {
    name,
    toolRules,
    methods: Object.keys(handlers),
    handle: (exchange, next, lookUp, originOf) => handlers[exchange.method]!(exchange, next, lookUp, originOf),
    reword,
    toolBehind: (shown, scope) => toolNames?.behind(shown, scope),
    promptBehind: (shown, scope) => promptNames?.behind(shown, scope),
    onChange(change, originOf) {
      if (change.kind === 'prompts') promptNames?.changed();
      if (change.kind !== 'tools' || !toolNames) return change;
      try {
        return toolNames.toldOf(change, originOf);
      } catch {
        return { kind: 'tools' }; // a change says too little of a tool for this mapping; the list will report the error
      }
    },
  };
}

/** Shows tools under other names or descriptions, or hides them. Calls find their tool through the same mapping. */
export function mapTools(map: MapEntry, name: string = map.name || 'mapTools'): Step {
  return mapNames({ name, tools: map });
}

function showEntries(names: NameMapper, area: 'tools' | 'prompts'): StepFunction {
  return async (exchange, next, lookUp, originOf) => {
    const outcome = await next();
    const entries = toListEntries(outcome.result[area]);
    if (entries.length === 0) return outcome;
    const shown = await names.show(entries, exchange, { lookUp, originOf });
    outcome.result = { ...outcome.result, [area]: shown };
    return outcome;
  };
}

interface NameResolution {
  /** The parameter that holds the name. */
  key: 'name' | 'toolName';
  /** The error for an unknown name. */
  unknown: 'TOOL_NOT_FOUND' | 'PROMPT_NOT_FOUND' | 'INVALID_PARAMS';
  strict: boolean;
}

function resolveName(names: NameMapper, how: NameResolution): StepFunction {
  const { key, unknown, strict } = how;
  const find = async (name: string, exchange: StepExchange, next: Next, around: ChainLookup): Promise<Outcome> => {
    const found = await names.resolve(name, exchange, around);
    if (found === 'unlisted' && !strict) return next();
    const away = found === 'unlisted' ? names.away(name, around.originOf) : undefined;
    if (typeof found === 'string') throw away ?? toUnknown(unknown, name);
    return nextAs(found.own, key, exchange, next);
  };
  return (exchange, next, lookUp, originOf) => {
    const name = exchange.params[key];
    if (typeof name !== 'string') return next();
    const own = names.known(name, exchange);
    return own === undefined ? find(name, exchange, next, { lookUp, originOf }) : nextAs(own, key, exchange, next);
  };
}

function toUnknown(code: NameResolution['unknown'], name: string): GatewayError {
  if (code !== 'INVALID_PARAMS') return new GatewayError(code, { name });
  return new GatewayError(code, { data: { toolName: name, error: 'There is no such tool' } });
}

function nextAs(own: string, key: NameResolution['key'], exchange: StepExchange, next: Next): Promise<Outcome> {
  if (own !== exchange.params[key]) exchange.params = { ...exchange.params, [key]: own };
  return next();
}

/** An error about an unknown tool has to use the client's name. */
function reword(thrown: unknown, passedOn: JsonObject, found: JsonObject): unknown {
  const key = 'toolName' in found ? 'toolName' : 'name';
  if (!(thrown instanceof GatewayError) || passedOn[key] === found[key]) return thrown;
  const detail = (['name', 'tool'] as const).find((one) => thrown.details[one] === passedOn[key]);
  if (!detail) return thrown;
  const { origin: _, ...details } = thrown.details; // the server's message uses its own name
  return new GatewayError(thrown.code, { ...details, [detail]: found[key] }, { cause: thrown });
}

/** Replaces the tool name in the state of an interactive session. */
function showToolName(names: NameMapper): StepFunction {
  return async (_exchange, next, _lookUp, originOf) => {
    const outcome = await next();
    const { metadata } = outcome.result;
    if (!isObject(metadata) || typeof metadata.toolName !== 'string') return outcome;
    const toolName = names.shownName(metadata.toolName, originOf) ?? metadata.toolName;
    outcome.result = { ...outcome.result, metadata: { ...metadata, toolName } };
    return outcome;
  };
}

/** Clients complete on every keystroke, so an unknown prompt gets no suggestions instead of an error. */
function completePrompt(names: NameMapper, strict: boolean): StepFunction {
  return async (exchange, next, lookUp, originOf) => {
    const { ref } = exchange.params;
    if (!isObject(ref) || ref.type !== 'ref/prompt' || typeof ref.name !== 'string') return next();
    const found = await names.resolve(ref.name, exchange, { lookUp, originOf });
    if (found === 'unlisted' && !strict) return next();
    if (typeof found === 'string') return respond({ completion: { values: [], total: 0, hasMore: false } });
    exchange.params = { ...exchange.params, ref: { ...ref, name: found.own } };
    return next();
  };
}
