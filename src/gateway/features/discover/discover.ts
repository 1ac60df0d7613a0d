// Shows a client as much of the tools as it can use: all of them, all with hints or with short descriptions, or a tool that finds the
// others.
// 1. Which mode a client gets follows from its name, which only it vouches for: this saves context and protects nothing.
// 2. What `call_tool` calls is the call that every other step, every rule and the audit log of its server see.
// 3. A list in mode "search" does not change with what was found, so that caches of prompts hold.
import { isGatewayTool } from '../../../kernel/gateway-tool.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { CALL_TOOL, LIST_TOOLS } from '../../../kernel/methods.ts';
import { writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import type { LookUp, Next, Origin, OriginOf, Outcome, Step, StepExchange } from '../../../kernel/step.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { listAllEntries, toListEntries } from '../../chain/list-entries.ts';
import type { ListEntry } from '../../chain/list-entries.ts';
import { respond } from '../../chain/outcome.ts';
import { badOption, checkOptionChoice, withDefaults } from '../../chain/step-options.ts';
import { toMatcher, toNameRule, toToolRules } from '../../matching/name-rule.ts';
import type { NameRule } from '../../matching/name-rule.ts';
import { CALL_ENTRY, FIND_ENTRY, MAX_FOUND } from './search-tools.ts';
import { toCompact, toHinted } from './shown-entry.ts';
import { ToolIndexes } from './tool-index.ts';

const MODES = ['all', 'hints', 'compact', 'search'] as const;
type Mode = (typeof MODES)[number];

export interface DiscoverOptions {
  /**
   * `all`: every tool as it is. `hints`: with hints for clients that search tools themselves. `compact`: with the first sentence of its
   * description. `search`: only `find_tools`, `call_tool` and the tools of `always`.
   */
  mode?: Mode | undefined;
  /** Modes of clients, by globs of the names that they give themselves. The first that fits counts. */
  clients?: Record<string, Mode> | undefined;
  /** Globs of tools that `search` lists, too, and that `hints` asks clients to load at once. */
  always?: string[] | undefined;
  /** Words by which clients find a tool (`hints`), by globs of tools. Default: what its name says. */
  hints?: Record<string, string> | undefined;
  /** How many tools a search finds, if the model does not say; at most 10. */
  results?: number | undefined;
}

const DEFAULTS = { mode: 'all', clients: {}, always: [], hints: {}, results: 5 };
/** The commands of Parley show what there is. */
const OWN_COMMANDS = 'parley';

/**
 * Shows clients fewer tools, or shorter ones, and lets models search the rest.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { discover } from 'mcp-parley/middleware';
 *
 * createGateway({
 *   servers: { files: { command: 'npx', args: ['-y', 'some-server'] }, notes: 'http://127.0.0.1:3001/mcp' },
 *   steps: [discover({ mode: 'search', clients: { 'claude-code*': 'hints' }, always: ['notes__search'] })],
 * });
 * ```
 */
export function discover(options: DiscoverOptions = {}): Step {
  const { mode, clients, always, hints, results } = withDefaults('discover', options, DEFAULTS);
  checkOptionChoice('discover.mode', mode, MODES);
  for (const [client, one] of Object.entries(clients)) checkOptionChoice(`discover.clients.${client}`, one, MODES);
  if (results < 1 || results > MAX_FOUND) throw badOption('discover.results', `must be 1 to ${MAX_FOUND}`);
  const modeOf = toModes(mode, clients);
  const isAlways = toNameRule(always);
  const search = new ToolSearch(isAlways, results);
  const hinted = toHinted(isAlways, toHints(hints));
  const showEntry = { hints: hinted, compact: toCompact };
  return {
    name: 'discover',
    methods: [LIST_TOOLS, CALL_TOOL],
    seesStarts: true, // MCP Flow starts tools by their own names
    unwraps: true,
    toolRules: toToolRules([...always, ...Object.keys(hints)]),
    handle(exchange, next, lookUp, originOf) {
      const chosen = modeOf(exchange);
      if (chosen === 'all') return next();
      if (chosen === 'search') return search.handle(exchange, next, lookUp, originOf);
      return exchange.method === LIST_TOOLS ? showAll(next, showEntry[chosen], originOf) : next();
    },
  } satisfies Step;
}

/** The gateway itself and Parley's own commands see every tool, unless the options name them. */
function toModes(fallback: Mode, clients: Record<string, Mode>): (exchange: StepExchange) => Mode {
  const modes = Object.entries(clients).map(([glob, mode]) => ({ fits: toMatcher([glob]), mode }));
  return ({ client }) => {
    const { name } = client.info;
    if (!client.connection) return 'all';
    return modes.find(({ fits }) => fits(name))?.mode ?? (name === OWN_COMMANDS ? 'all' : fallback);
  };
}

function toHints(hints: Record<string, unknown>): (entry: ListEntry, origin: Origin | undefined) => string | undefined {
  const texts = Object.entries(hints).map(([glob, text]) => {
    if (typeof text !== 'string') throw badOption(`discover.hints.${glob}`, 'must be a string');
    return { fits: toNameRule([glob]), text };
  });
  return ({ name }, origin) => texts.find(({ fits }) => fits(name, origin))?.text;
}

async function showAll(
  next: Next,
  show: (entry: ListEntry, origin: Origin | undefined) => ListEntry,
  originOf: OriginOf | undefined,
): Promise<Outcome> {
  const outcome = await next();
  const tools = toListEntries(outcome.result.tools);
  outcome.result = { ...outcome.result, tools: tools.map((tool) => show(tool, originOf?.('tools', tool.name))) };
  return outcome;
}

/** The two tools in place of all others. */
class ToolSearch {
  readonly #isAlways: NameRule;
  readonly #results: number;
  readonly #indexes = new ToolIndexes();

  constructor(isAlways: NameRule, results: number) {
    this.#isAlways = isAlways;
    this.#results = results;
  }

  handle(exchange: StepExchange, next: Next, lookUp: LookUp, originOf: OriginOf | undefined): Promise<Outcome> {
    if (exchange.method === LIST_TOOLS) return this.#list(exchange, next, originOf);
    if (exchange.params.name === FIND_ENTRY.name) return this.#find(exchange.params.arguments, lookUp);
    return exchange.params.name === CALL_ENTRY.name ? this.#call(exchange, next) : next();
  }

  /** On the first page, whichever page a tool of `always` is on. */
  async #list({ params }: StepExchange, next: Next, originOf: OriginOf | undefined): Promise<Outcome> {
    const outcome = await next();
    const own = params.cursor === undefined ? [FIND_ENTRY, CALL_ENTRY] : [];
    const shown = toListEntries(outcome.result.tools).filter(
      (tool) =>
        isGatewayTool(tool) || (this.#isAlways(tool.name, originOf?.('tools', tool.name)) && !isOwnName(tool.name)),
    );
    outcome.result = { ...outcome.result, tools: [...own, ...shown] };
    return outcome;
  }

  async #find(given: unknown, lookUp: LookUp): Promise<Outcome> {
    const { query, limit = this.#results } = isObject(given) ? given : {};
    if (typeof query !== 'string' || query.trim() === '')
      return toMistake('"query" is missing: say in a few words what the tool has to do.');
    if (!Number.isInteger(limit) || (limit as number) < 1)
      return toMistake(`"limit" must be a whole number from 1 to ${MAX_FOUND}.`);
    const tools = (await listAllEntries(lookUp, 'tools')).filter((tool) => !isGatewayTool(tool));
    const found = await this.#indexes.find(tools, query, Math.min(limit as number, MAX_FOUND));
    if (found.length === 0)
      return toText(`None of the ${tools.length} tools fits. Try other words, or the name of a service.`);
    const shown = found.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    return toText(writeExactly({ tools: shown, searched: tools.length }));
  }

  /** Makes it the call of the named tool, whatever comes after. */
  async #call(exchange: StepExchange, next: Next): Promise<Outcome> {
    const { params, ownTool } = exchange;
    const { name, arguments: given } = isObject(params.arguments) ? params.arguments : {};
    if (typeof name !== 'string' || name === '')
      return toMistake(`"name" is missing: the name of a tool, as ${FIND_ENTRY.name} gives it.`);
    if (given !== undefined && !isObject(given))
      return toMistake(`"arguments" must be an object, as the inputSchema of ${name} says.`);
    if (ownTool?.name === name) return toMistake(`Call ${name} itself: it is one of your tools.`);
    exchange.params = { ...params, name, arguments: given ?? {} };
    if (exchange.observed) exchange.observed.unwrapped = exchange.params;
    try {
      return await next();
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.code !== 'TOOL_NOT_FOUND') throw thrown;
      return toMistake(
        `${CALL_ENTRY.name} has no tool with this name. Find its exact name with ${FIND_ENTRY.name}; what is one of your tools, such as parley_answer, you call itself.`,
      );
    }
  }
}

function isOwnName(name: string): boolean {
  return name === FIND_ENTRY.name || name === CALL_ENTRY.name;
}

function toText(text: string): Outcome {
  return respond({ content: [{ type: 'text', text }] } satisfies JsonObject);
}

/** The model can read it and try again. */
function toMistake(text: string): Outcome {
  return respond({ content: [{ type: 'text', text }], isError: true } satisfies JsonObject);
}
