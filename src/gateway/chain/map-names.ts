// Changes names consistently: one mapping of list entries applies to lists, calls, completion and change notifications. All steps
// that rename or hide tools and prompts use it.
// 1. Before an unlisted name is refused, the lists are fetched to find it.
// 2. A hidden or renamed entry cannot be called by its own name.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Next, Outcome, Step, StepExchange, StepFunction, ToolRule, LookUp, OriginOf } from '../../kernel/step.ts';
import type { Change } from '../../kernel/target.ts';
import { readRef } from '../../kernel/named-thing.ts';
import {
  CALL_TOOL,
  COMPLETE_ARGUMENT,
  FLOW_START,
  FLOW_STATE,
  GET_PROMPT,
  LIST_PROMPTS,
  LIST_TOOLS,
} from '../../kernel/methods.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { toListEntries, listAllEntries } from './list-entries.ts';
import type { ListEntry } from './list-entries.ts';
import { respond } from './outcome.ts';
import { NameTable } from './name-table.ts';
import type { EntryOrigin, MapEntry } from './name-table.ts';
import { misuseError } from './step-error.ts';
import { whenStarted } from './when-started.ts';

interface NameMapping {
  /** The name of the step, for errors. */
  name: string;
  tools?: MapEntry | undefined;
  prompts?: MapEntry | undefined;
  /** Refuses unlisted names, although a server might know them: for steps that withhold things from clients. */
  strict?: boolean | undefined;
  toolRules?: readonly ToolRule[] | undefined;
}

export function mapNames(mapping: NameMapping): Step {
  return mapNamesByMethod(mapping);
}

/** A step with a function for each of its methods. */
export interface MethodStep extends Step {
  readonly handlers: Readonly<Record<string, StepFunction>>;
}

export function byMethod(handlers: MethodStep['handlers']): Pick<MethodStep, 'handlers' | 'methods' | 'handle'> {
  return {
    handlers,
    methods: Object.keys(handlers),
    handle: (exchange, next, lookUp, originOf) => handlers[exchange.method]!(exchange, next, lookUp, originOf),
  };
}

export function mapNamesByMethod({ name, tools, prompts, strict = false, toolRules }: NameMapping): MethodStep {
  const toolNames = tools && new NameMapper(name, 'tools', tools);
  const promptNames = prompts && new NameMapper(name, 'prompts', prompts);
  const handlers: Record<string, StepFunction> = {};
  if (toolNames) {
    handlers[LIST_TOOLS] = showEntries(toolNames, 'tools');
    handlers[CALL_TOOL] = resolveName(toolNames, { key: 'name', unknown: 'TOOL_NOT_FOUND', strict });
    handlers[FLOW_START] = resolveName(toolNames, { key: 'toolName', unknown: 'INVALID_PARAMS', strict });
    handlers[FLOW_STATE] = showToolName(toolNames);
  }
  if (promptNames) {
    handlers[LIST_PROMPTS] = showEntries(promptNames, 'prompts');
    handlers[GET_PROMPT] = resolveName(promptNames, { key: 'name', unknown: 'PROMPT_NOT_FOUND', strict });
    handlers[COMPLETE_ARGUMENT] = completePrompt(promptNames, strict);
  }
  return {
    name,
    toolRules,
    ...byMethod(handlers),
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

/**
 * Shows each tool as the function returns it, and hides those for which it returns undefined. Calls find their tool through the
 * same mapping.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { mapTools } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [mapTools((tool) => (tool.name.startsWith('internal_') ? undefined : tool), 'public')] });
 * ```
 */
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
    const about = readRef(exchange.params);
    if (!('prompt' in about)) return next();
    const found = await names.resolve(about.prompt, exchange, { lookUp, originOf });
    if (found === 'unlisted' && !strict) return next();
    if (typeof found === 'string') return respond({ completion: { values: [], total: 0, hasMore: false } });
    exchange.params = { ...exchange.params, ref: { ...(exchange.params.ref as object), name: found.own } };
    return next();
  };
}

/** More chains than a gateway has. */
const MAX_TABLES = 256;

/** How a step queries the rest of the chain. */
export interface ChainLookup {
  lookUp: LookUp;
  originOf: OriginOf | undefined;
}

type ToolsChange = Extract<Change, { kind: 'tools' }>;

/** Maps the names of tools or prompts for one step. It keeps one table per chain, because a name may mean different things behind /mcp and /mcp/<server>. */
class NameMapper {
  readonly #step: string;
  readonly #area: 'tools' | 'prompts';
  readonly #map: MapEntry;
  readonly #tables = new BoundedMap<string, NameTable>(MAX_TABLES);
  /** The table used last; mostly the only one. */
  #last: { scope: string; table: NameTable } | undefined;

  constructor(step: string, area: 'tools' | 'prompts', map: MapEntry) {
    this.#step = step;
    this.#area = area;
    this.#map = map;
  }

  /** The entries as clients see them. */
  async show(entries: ListEntry[], { scope }: StepExchange, { lookUp, originOf }: ChainLookup): Promise<ListEntry[]> {
    const origin = this.#originIn(originOf);
    const shown = this.#table(scope).learn(entries, origin);
    if (Array.isArray(shown)) return shown;
    // The clash may be with an entry that no longer exists: only a complete list can tell.
    await this.#renew(scope, { lookUp, originOf });
    return entries.flatMap((entry) => this.#map(entry, origin(entry.name)) ?? []);
  }

  /** The name in the rest of the chain, if it is known and current. */
  known(name: string, { scope, ownTool }: StepExchange): string | undefined {
    const table = this.#table(scope);
    return table.stale ? undefined : table.owner(name, ownTool?.name === name);
  }

  /** The same, fetching the list if necessary. `unlisted`: neither shown nor withheld. */
  async resolve(
    name: string,
    exchange: StepExchange,
    around: ChainLookup,
  ): Promise<{ own: string } | 'kept back' | 'unlisted'> {
    const { scope, ownTool } = exchange;
    let table = this.#table(scope);
    const isOwn = ownTool?.name === name;
    const known = table.owner(name, isOwn);
    if (known === undefined || table.stale) {
      if (known === undefined)
        await whenStarted(this.#area, table.formerOwner(name) ?? name, exchange, around.originOf);
      try {
        table = await this.#renew(scope, around);
      } catch (thrown) {
        if (known === undefined) throw thrown; // the server is away, so the known name is used
      }
    }
    const own = table.owner(name, isOwn);
    if (own !== undefined) return { own };
    return table.has(name, isOwn) ? 'kept back' : 'unlisted';
  }

  /** Why the server of an unlisted name is not available; undefined if it is, or if the step would hide the name. */
  away(name: string, originOf: OriginOf | undefined): Error | undefined {
    const origin = this.#originIn(originOf)(name);
    const reason = origin?.away?.();
    return reason && this.#map({ name }, origin) ? reason : undefined;
  }

  /** The name in the rest of the chain, as far as it is known. */
  behind(name: string, scope: string): string | undefined {
    const table = this.#tables.get(scope);
    return table?.owner(name) ?? table?.formerOwner(name);
  }

  changed(): void {
    for (const [, table] of this.#tables.entries()) table.stale = true;
  }

  /** The change under the clients' names; undefined if they cannot see any of it. */
  toldOf(change: ToolsChange, originOf?: OriginOf): ToolsChange | undefined {
    this.changed();
    const origin = this.#originIn(originOf);
    const added = change.added?.flatMap((tool) => this.#shownTool(tool, origin) ?? []);
    const removed = change.removed?.flatMap((name) => this.shownName(name, originOf) ?? []);
    const told = (change.added?.length ?? 0) + (change.removed?.length ?? 0);
    if (told > 0 && (added?.length ?? 0) + (removed?.length ?? 0) === 0) return undefined;
    return { ...change, ...(added && { added }), ...(removed && { removed }) };
  }

  #shownTool(tool: NonNullable<ToolsChange['added']>[number], origin: EntryOrigin): typeof tool | undefined {
    const mapped = this.#map({ ...tool }, origin(tool.name));
    if (!mapped) return undefined;
    const { name, description = tool.description } = mapped;
    return { name, ...(typeof description === 'string' && { description }) };
  }

  /** The shown name, as far as it is known. */
  shownName(own: string, originOf?: OriginOf): string | undefined {
    const table = this.#tables.entries().find(([, table]) => table.has(own))?.[1] ?? new NameTable(this.#map);
    return table.shownName(own, this.#originIn(originOf));
  }

  #table(scope: string): NameTable {
    if (this.#last?.scope === scope) return this.#last.table;
    return this.#keep(scope, this.#tables.get(scope) ?? new NameTable(this.#map));
  }

  #keep(scope: string, table: NameTable): NameTable {
    this.#tables.set(scope, table);
    this.#last = { scope, table };
    return table;
  }

  #originIn(originOf: OriginOf | undefined): EntryOrigin {
    return (name) => originOf?.(this.#area, name);
  }

  async #renew(scope: string, { lookUp, originOf }: ChainLookup): Promise<NameTable> {
    const table = new NameTable(this.#map);
    const shown = table.learn(await listAllEntries(lookUp, this.#area), this.#originIn(originOf));
    if (!Array.isArray(shown)) {
      const [one, other] = shown.owners;
      throw misuseError(this.#step, `gives the name "${shown.name}" to both "${one}" and "${other}"`);
    }
    return this.#keep(scope, table);
  }
}

/** Refuses names that no list has shown: scopes and rates go by names, and cannot know what a server would make of another spelling. */
export function onlyListed(): Step {
  return mapNames({ name: 'listed tools', strict: true, tools: (tool) => tool });
}
